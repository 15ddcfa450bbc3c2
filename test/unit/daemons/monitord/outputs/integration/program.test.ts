import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AlertFilter } from '../../../../../../daemons/monitord/outputs/alert-filter.js';
import { AlertFiles } from '../../../../../../daemons/monitord/outputs/integration/alert-files.js';
import {
  programPath,
  programProblem,
} from '../../../../../../daemons/monitord/outputs/integration/integration-program.js';
import { IntegrationReceiver } from '../../../../../../daemons/monitord/outputs/integration/integration-receiver.js';
import {
  type IntegrationSettings,
  ProgramSender,
} from '../../../../../../daemons/monitord/outputs/integration/integration-sender.js';
import { Home } from '../../../../../../lib/home/home.js';
import { eventually } from '../../../../../support/eventually.js';
import { sampleAlert } from '../../../../../support/monitord/alert-files.js';
import { ANY, batchOf, RecordedDelivery } from '../../../../../support/monitord/recorded-delivery.js';
import { RecordingLogger } from '../../../../../support/recording-logger.js';

const ALERT = sampleAlert();

describe('a program of integrations/', () => {
  let home: Home;
  let files: string;
  beforeEach(() => {
    home = new Home(mkdtempSync(join(tmpdir(), 'integration-')));
    mkdirSync(home.path('integrations'), { mode: 0o750 });
    files = home.path('tmp', 'integrations');
  });
  afterEach(() => {
    rmSync(home.root, { recursive: true });
  });

  function write(text: string, name = 'custom-x'): void {
    writeFileSync(programPath(home, name), `#!/bin/sh\n${text}\n`, { mode: 0o750 });
  }
  const receiver = (settings: Partial<IntegrationSettings> = {}): IntegrationReceiver =>
    new IntegrationReceiver(
      new ProgramSender({
        settings: {
          name: 'custom-x',
          apiKey: 'the key',
          hookUrl: 'https://h.test/$(id)',
          options: '',
          alertFormat: 'json',
          maxLog: 165,
          timeout: 10,
          retries: 3,
          ...settings,
        },
        program: programPath(home, 'custom-x'),
        directory: home.root,
        files: new AlertFiles(files),
        logger: new RecordingLogger(),
        debug: false,
      }),
      new AlertFilter(ANY),
    );
  async function deliver(to: IntegrationReceiver): Promise<RecordedDelivery> {
    const delivery = new RecordedDelivery();
    await to.deliver(batchOf(ALERT), delivery);
    return delivery;
  }
  const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);
  const seen = (name: string): string => readFileSync(home.path(name), 'utf8');

  it('gets its arguments in their places, the alert and the options in files that go away', async () => {
    write(
      `for a in "$@"; do printf '%s\\n' "$a"; done > args; cat "$1" > alert; cat "$5" > options; stat -c %a "$1" > mode`,
    );
    const delivery = await deliver(receiver({ options: '{"a":1}' }));
    const args = seen('args').split('\n');
    expect(args[0]).to.match(new RegExp(`^${files}/custom-x-\\d+-\\d+\\.alert$`));
    expect(args[4]).to.match(/\.options$/);
    expect(args.filter((_, i) => i !== 0 && i !== 4)).to.deep.equal([
      ...['the key', 'https://h.test/$(id)', '', '10', '3', '>', '/dev/null', '2>&1', ''],
    ]);
    expect(JSON.parse(seen('alert'))).to.deep.equal(ALERT);
    expect(seen('options')).to.equal('{"a":1}');
    expect(seen('mode').trim()).to.equal('640');
    expect(readdirSync(files)).to.deep.equal([]);
    expect(delivery).to.deep.include({ sentCount: 1, settled: 1 });
  });

  it('gets the text form, without what could end a word', async () => {
    write('cat "$1" > alert');
    await deliver(receiver({ alertFormat: 'text', maxLog: 20 }));
    expect(seen('alert')).to.equal(
      "alertdate='2025-06-05T10:11:23.123+0000'\nalertlocation='(web) 10.0.0.7->/var/log/auth.log'\nruleid='5712'\n" +
        "alertlevel='10'\nruledescription='Many failures'\nalertlog='Jun  5 10:11:23 web '\nsrcip='203.0.113.9'\n",
    );
  });

  it('fails as it fails, and leaves no file', async () => {
    write('echo one; echo "no route" >&2; exit 3');
    expect(await failureOf(deliver(receiver()))).to.have.property(
      'message',
      'Unable to run integration for custom-x -> integrations. Output: no route Exit status was: 3',
    );
    write('exit 127');
    expect(await failureOf(deliver(receiver())))
      .to.have.property('message')
      .that.includes("Couldn't execute command");
    rmSync(programPath(home, 'custom-x'));
    expect(await failureOf(deliver(receiver()))).to.be.an('error');
    expect(readdirSync(files)).to.deep.equal([]);
  });

  it('is ended with all that it has started when a delivery is over', async () => {
    write('sleep 60 & echo $! > child; wait');
    const delivery = new RecordedDelivery();
    const failure = failureOf(receiver().deliver(batchOf(ALERT), delivery));
    await eventually('it runs', () => readdirSync(home.root).includes('child') && seen('child') !== '');
    delivery.expire();
    expect(await failure).to.have.property('message', 'nothing was taken in time');
    await eventually('its child is gone', () => {
      try {
        return seen(join('..', '..', 'proc', seen('child').trim(), 'stat')).includes(') Z ');
      } catch {
        return true;
      }
    });
    expect(readdirSync(files)).to.deep.equal([]);
  });

  it('finds no files of a process that was killed long ago', async () => {
    mkdirSync(files, { recursive: true });
    writeFileSync(join(files, 'old'), '');
    writeFileSync(join(files, 'new'), '');
    utimesSync(join(files, 'old'), 1, 1);
    write('exit 0');
    await deliver(receiver());
    expect(readdirSync(files)).to.deep.equal(['new']);
  });

  it('is run only where nobody else can have written it', () => {
    expect(programProblem(home, 'custom-x')).to.equal("File not found inside 'integrations'.");
    write('exit 0');
    expect(programProblem(home, 'custom-x')).to.equal(undefined);
    chmodSync(programPath(home, 'custom-x'), 0o772);
    expect(programProblem(home, 'custom-x')).to.include('can be written by others');
    chmodSync(programPath(home, 'custom-x'), 0o640);
    expect(programProblem(home, 'custom-x')).to.match(/EACCES|permission/i);
    symlinkSync('/bin/true', programPath(home, 'custom-y'));
    expect(programProblem(home, 'custom-y')).to.include('is a link');
    chmodSync(programPath(home, 'custom-x'), 0o750);
    chmodSync(home.path('integrations'), 0o777);
    expect(programProblem(home, 'custom-x')).to.include('lies in a directory that can be written by others');
  });
});
