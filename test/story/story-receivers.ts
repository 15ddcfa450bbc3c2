import { SmtpReceiver } from '../support/monitord/smtp-receiver.js';
import { StrictIndexer } from '../support/monitord/strict-indexer.js';
import { SyslogServer } from '../support/monitord/syslog-server.js';
import type { StoryAlert } from './story-alerts.js';

export type ArrivedMail = { readonly subject: string; readonly id: string; readonly text: string };
export type IndexedAlert = { readonly documentId: string; readonly alertId: string };

/** Who alerts are handed on to: a syslog server, a mail server and a search engine, all on the loopback. */
export class StoryReceivers {
  readonly syslog = new SyslogServer();
  readonly smtp = new SmtpReceiver();
  readonly indexer = new StrictIndexer();
  /** Connections to the syslog server that were the last one at a kill of svc-monitord. */
  readonly lastAtKill = new Set<number>();

  async start(): Promise<void> {
    await Promise.all([this.syslog.start(), this.smtp.start(), this.indexer.start()]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.syslog.stop(), this.smtp.stop(), this.indexer.stop()]);
  }

  /** To be called when svc-monitord was killed: what was on its way then may come twice. */
  async noteKill(): Promise<void> {
    // Connections that the system has accepted are known behind this.
    await new Promise((resolve) => setImmediate(resolve));
    this.lastAtKill.add(this.syslog.connections.length - 1);
  }

  /** Alerts as the syslog server has them, with the message each came in. */
  logged(): readonly { readonly alert: StoryAlert; readonly message: string }[] {
    return this.syslog.messages.map(alertIn);
  }

  /** Ids of the alerts that may have come twice: those of connections that nobody knows the end of. */
  mayComeTwice(): ReadonlySet<string> {
    const { connections } = this.syslog;
    const open = connections.filter(({ broken }, i) => broken || this.lastAtKill.has(i));
    return new Set(open.flatMap(({ messages }) => messages).map((message) => alertIn(message).alert.id));
  }

  mails(): readonly ArrivedMail[] {
    return this.smtp.mails.map(({ message }) => ({
      subject: /^Subject: (.*(?:\r\n[ \t].*)*)/im.exec(message)?.[1]?.replace(/\r\n[ \t]/g, ' ') ?? '',
      id: /^Message-ID: (.*)$/im.exec(message)?.[1] ?? '',
      text: message.replace(/=\r\n/g, ''),
    }));
  }

  indexed(): readonly IndexedAlert[] {
    return [...this.indexer.documents()].map(([documentId, { id }]) => ({ documentId, alertId: String(id) }));
  }

  /** What came in a form that the protocols do not have. */
  violations(): readonly string[] {
    return [...this.syslog.problems, ...this.indexer.violations];
  }
}

function alertIn(message: string): { alert: StoryAlert; message: string } {
  return { alert: JSON.parse(message.slice(message.indexOf('{'))) as StoryAlert, message };
}
