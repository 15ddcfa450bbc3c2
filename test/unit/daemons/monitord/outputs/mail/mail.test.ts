import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AlertFilter } from '../../../../../../daemons/monitord/outputs/alert-filter.js';
import {
  MailQueue,
  type MailQueueParts,
  type MailRoute,
} from '../../../../../../daemons/monitord/outputs/mail/mail-queue.js';
import { MailReceiver } from '../../../../../../daemons/monitord/outputs/mail/mail-receiver.js';
import { type MailServer, MailTransport } from '../../../../../../daemons/monitord/outputs/mail/mail-transport.js';
import { OutputStore } from '../../../../../../daemons/monitord/outputs/output-store.js';
import { eventually } from '../../../../../support/eventually.js';
import { sampleAlert } from '../../../../../support/monitord/alert-files.js';
import { ANY, batchOf, RecordedDelivery } from '../../../../../support/monitord/recorded-delivery.js';
import { SmtpReceiver } from '../../../../../support/monitord/smtp-receiver.js';
import { RecordingLogger } from '../../../../../support/recording-logger.js';
import { testCertificate } from '../../../../../support/tls/test-certificates.js';

const alert = (level: number, mail = true, groups = ['sshd']) =>
  sampleAlert({ rule: { level, id: '1', description: `level ${String(level)}`, groups, mail } });
const ROUTE: MailRoute = { key: '0', to: ['ops@x.test'], sms: false, immediate: false, single: false };

describe('mail', () => {
  let directory: string;
  let smtp: SmtpReceiver;
  let store: OutputStore;
  let logger: RecordingLogger;
  let queues: MailQueue[];
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'mail-'));
    smtp = new SmtpReceiver();
    await smtp.start();
    store = await OutputStore.open(join(directory, 'outputs'));
    logger = new RecordingLogger();
    queues = [];
  });
  afterEach(async () => {
    await Promise.all(queues.map((queue) => queue.stop()));
    await store.close();
    await smtp.stop();
    rmSync(directory, { recursive: true });
  });

  const server = (changes: Partial<MailServer> = {}): MailServer => ({
    server: '127.0.0.1',
    port: smtp.port,
    secure: 'no',
    helo: 'notify.example.test',
    from: 'mgr@x.test',
    fromName: 'Wazuh',
    ...changes,
  });

  function queue(routes: MailRoute[], changes: Partial<MailQueueParts> = {}): MailQueue {
    const transport = new MailTransport(server());
    const made = new MailQueue({
      store,
      routes,
      send: (mail, signal) => transport.send(mail, signal),
      logger,
      mostPerHour: 12,
      fullSubject: false,
      groupMs: 20,
      sleep: () => new Promise((resolve) => setTimeout(resolve, 2)),
      ...changes,
    });
    queues.push(made);
    return made;
  }

  /** As a consumer hands alerts over, with the transaction. */
  async function deliver(to: MailReceiver, ...alerts: Record<string, unknown>[]): Promise<void> {
    const delivery = new RecordedDelivery();
    delivery.settle = async (_count, changes = []) => store.commit(changes);
    await to.deliver(batchOf(...alerts), delivery);
  }
  const everything = new AlertFilter(ANY);
  const subjects = () => smtp.mails.map(({ message }) => /^Subject: (.*)$/m.exec(message)?.[1]);

  describe('that is sent', () => {
    const MAIL = { to: ['a@x.test', 'b@x.test'], subject: 'Ä', text: '\r\nline\r\n.dot\r\n', id: 'abc' };
    const send = (changes: Partial<MailServer> = {}) =>
      new MailTransport(server(changes)).send(MAIL, new AbortController().signal);
    const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

    it('has the headers that are configured', async () => {
      await send({ replyTo: 'team@x.test', idsName: 'ids1' });
      const [mail] = smtp.mails;
      expect(mail).to.deep.include({ helo: 'notify.example.test', from: 'mgr@x.test', to: ['a@x.test', 'b@x.test'] });
      const headers = mail!.message.split('\r\n\r\n')[0]!.split('\r\n');
      expect(headers).to.include.members([
        'From: Wazuh <mgr@x.test>',
        'To: a@x.test, b@x.test',
        'Reply-To: team@x.test',
        'X-IDS-OSSEC: ids1',
        'Message-ID: <abc@notify.example.test>',
        'Subject: =?UTF-8?B?w4Q=?=',
      ]);
      expect(headers.some((line) => line.startsWith('Date: '))).to.equal(true);
      expect(mail!.message.endsWith('\r\n\r\n\r\nline\r\n.dot')).to.equal(true);
    });

    it('goes over TLS to a server with the right certificate alone', async () => {
      const authority = testCertificate({ commonName: 'authority' });
      const certificate = testCertificate({ commonName: 'mx', ips: ['127.0.0.1'], issuer: authority });
      const ca = join(directory, 'ca.pem');
      writeFileSync(ca, authority.cert);
      for (const tls of [false, true]) {
        await smtp.stop();
        smtp = new SmtpReceiver({ certificate, tls });
        await smtp.start();
        const secure = tls ? 'tls' : 'starttls';
        await send({ secure, ca });
        expect(smtp.mails.map((mail) => mail.secure)).to.deep.equal([true]);
        expect(await failureOf(send({ secure })))
          .to.have.property('message')
          .that.includes('certificate');
      }
      await smtp.stop();
      smtp = new SmtpReceiver();
      await smtp.start();
      expect(await failureOf(send({ secure: 'starttls', ca }))).to.be.an('error');
      expect(smtp.mails).to.deep.equal([]);
    });

    it('logs in with a password of a file that others cannot read', async () => {
      await smtp.stop();
      smtp = new SmtpReceiver({ auth: true });
      await smtp.start();
      const passwordFile = join(directory, 'password');
      writeFileSync(passwordFile, 'secret\n', { mode: 0o600 });
      await send({ user: 'me', passwordFile });
      expect(smtp.mails[0]!.login).to.equal('me:secret');
      writeFileSync(passwordFile, 'wrong\n');
      expect(await failureOf(send({ user: 'me', passwordFile })))
        .to.have.property('message')
        .that.includes('535')
        .and.not.includes('wrong');
      chmodSync(passwordFile, 0o604);
      expect(await failureOf(send({ user: 'me', passwordFile })))
        .to.have.property('message')
        .that.includes('chmod 600');
    });

    it('tells a mail that is refused from a server that is away', async () => {
      smtp.replies.set('RCPT', '550 nobody here');
      expect(await failureOf(send())).to.have.property('name', 'MailRefusedError');
      smtp.replies.set('RCPT', '450 later');
      expect(await failureOf(send())).not.to.have.property('name', 'MailRefusedError');
      smtp.replies.clear();
      smtp.replies.set('.', '554 spam');
      expect(await failureOf(send())).to.have.property('name', 'MailRefusedError');
      expect(await failureOf(send({ port: 1 })))
        .to.have.property('message')
        .that.includes('ECONNREFUSED');
    });

    it('ends with its signal when the server hangs', async () => {
      smtp.replies.set('DATA', '');
      const controller = new AbortController();
      const work = new MailTransport(server()).send(MAIL, controller.signal);
      await eventually('it hangs', () => smtp.commands.includes('DATA'));
      controller.abort(new Error('enough'));
      expect(await failureOf(work)).to.have.property('message', 'enough');
    });

    it('is handed to a program, without a shell', async () => {
      const program = join(directory, 'sendmail');
      writeFileSync(program, `#!/bin/sh\necho "$@" > ${directory}/args\ncat > ${directory}/mail\n`, { mode: 0o755 });
      await send({ server: `${program} -t $(id)` });
      expect(readFileSync(join(directory, 'args'), 'utf8')).to.equal('-t $(id)\n');
      expect(readFileSync(join(directory, 'mail'), 'utf8')).to.include('To: a@x.test, b@x.test\n');
      chmodSync(program, 0o777);
      expect(await failureOf(send({ server: program })))
        .to.have.property('message')
        .that.includes('is not run');
    });
  });

  it('is written about alerts that ask for it, those of some seconds together', async () => {
    const waiting = queue([ROUTE]);
    const to = new MailReceiver(waiting, [{ route: ROUTE, filter: everything }]);
    await deliver(to, alert(7), alert(12), alert(15, false), alert(8));
    await eventually('it came', () => smtp.mails.length === 1);
    expect(subjects()).to.deep.equal(['Wazuh notification - (web) 10.0.0.7 - Alert level 12']);
    expect(
      smtp.mails[0]!.message.split('fired (level ')
        .map((part) => part.slice(0, 2))
        .slice(1),
    ).to.deep.equal(['7)', '12', '8)']);
    await eventually('nothing waits', () => waiting.stats()['waiting'] === 0);
    expect(waiting.stats()).to.deep.equal({
      delivered: 3,
      mails: 1,
      failed: 0,
      rejected: 0,
      available: true,
      waiting: 0,
    });
    await eventually('nothing is kept', () => [...store.mails.entries()].length === 0);
  });

  it('goes to further recipients as they want it', async () => {
    const sms: MailRoute = { ...ROUTE, key: '1', to: ['tel@x.test'], sms: true, immediate: true };
    const single: MailRoute = { ...ROUTE, key: '2', to: ['one@x.test'], single: true };
    const waiting = queue([ROUTE, sms, single]);
    const to = new MailReceiver(waiting, [
      { route: ROUTE, filter: everything },
      { route: sms, filter: new AlertFilter({ level: 12, ruleIds: [] }) },
      {
        route: single,
        filter: new AlertFilter({ level: 0, ruleIds: [], group: 'web', location: '10.0.0.7->', wholeLocation: true }),
      },
    ]);
    await deliver(to, alert(12), alert(7, true, ['web']), alert(8, true, ['web']));
    await eventually('all came', () => smtp.mails.length === 4);
    expect(smtp.mails[0]!.to).to.deep.equal(['tel@x.test']);
    expect(subjects()[0]).to.equal('Wazuh 12 - 1 - level 12');
    expect(smtp.mails.map(({ to: [first] }) => first).sort()).to.deep.equal([
      'one@x.test',
      'one@x.test',
      'ops@x.test',
      'tel@x.test',
    ]);
  });

  it('waits for the next hour when there were enough, and takes what waited together', async () => {
    let now = new Date(2025, 5, 5, 10, 59, 59, 900);
    const route = { ...ROUTE, immediate: true };
    const waiting = queue([route], { mostPerHour: 1, now: () => now });
    const to = new MailReceiver(waiting, [{ route, filter: everything }]);
    await deliver(to, alert(7));
    await eventually('the first came', () => smtp.mails.length === 1);
    await deliver(to, alert(8), alert(9));
    // Another process counts on.
    await waiting.stop();
    let looks = 0;
    const watch = (): Date => {
      looks += 1;
      return now;
    };
    const hours: number[] = [];
    const second = queue([route], {
      mostPerHour: 1,
      now: watch,
      send: (mail, signal) => {
        hours.push(now.getHours());
        return new MailTransport(server()).send(mail, signal);
      },
    });
    await eventually('it has looked what is to be sent', () => looks > 0);
    now = new Date(2025, 5, 5, 11);
    await eventually('the others came', () => smtp.mails.length === 2);
    expect(subjects()[1]).to.contain('Alert level 9');
    await eventually('nothing waits', () => second.stats()['waiting'] === 0);
    expect(second.stats()).to.include({ delivered: 2, mails: 1 });
    expect(hours).to.deep.equal([11]);
  });

  it('is tried again until the server is back, over a restart, with the same id', async () => {
    const { port } = smtp;
    smtp.replies.set('.', '451 later');
    const first = queue([ROUTE]);
    await deliver(new MailReceiver(first, [{ route: ROUTE, filter: everything }]), alert(7), alert(8));
    await eventually('it fails', () => Number(first.stats()['failed']) > 1);
    expect(first.stats()).to.include({ available: false, waiting: 2 });
    await first.stop();
    await smtp.stop();
    smtp = new SmtpReceiver();
    await smtp.start(port);
    const second = queue([ROUTE]);
    await eventually('it came', () => smtp.mails.length === 1);
    await eventually('nothing waits', () => second.stats()['waiting'] === 0);
    expect(second.stats()).to.include({ delivered: 2, mails: 1 });
    expect(logger.lines.filter((line) => line.startsWith('warn: Mail is not sent for now'))).to.have.length(1);
  });

  it('is given up when nobody will ever take it', async () => {
    smtp.replies.set('RCPT', '550 nobody here');
    const waiting = queue([ROUTE]);
    await deliver(new MailReceiver(waiting, [{ route: ROUTE, filter: everything }]), alert(7));
    await eventually('it is given up', () => waiting.stats()['rejected'] === 1);
    expect(waiting.stats()).to.include({ failed: 7, waiting: 0 });
    expect(logger.lines.at(-1)).to.match(/^error: A mail about 1 alerts to ops@x.test is given up: .*nobody here/);
  });

  it('says how many waited for recipients that are gone', async () => {
    smtp.replies.set('MAIL', '451 later');
    const first = queue([ROUTE]);
    await deliver(new MailReceiver(first, [{ route: ROUTE, filter: everything }]), alert(7));
    await first.stop();
    queue([{ ...ROUTE, key: 'other' }]);
    expect(logger.lines.at(-1)).to.equal(
      'warn: 1 alerts waited for a mail to recipients that are not configured any more.',
    );
    await eventually('they are forgotten', () => [...store.mails.entries()].length === 0);
  });
});
