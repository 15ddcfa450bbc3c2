import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import type { SmtpSecurity } from '../../../../lib/config/sections/global.js';
import { withRegularFileSync } from '../../../../lib/files/regular-file.js';
import { runProgram } from '../run-program.js';

export type MailServer = {
  /** Host, or a program with arguments, which begins with `/`. */
  readonly server: string;
  /** Undefined: 25, 587 with starttls, 465 with tls. */
  readonly port?: number | undefined;
  readonly secure: SmtpSecurity;
  /** Whole path of a file of authorities. */
  readonly ca?: string | undefined;
  readonly user?: string | undefined;
  /** Whole path. */
  readonly passwordFile?: string | undefined;
  readonly helo: string;
  readonly from: string;
  readonly replyTo?: string | undefined;
  /** `X-IDS-OSSEC` */
  readonly idsName?: string | undefined;
  /** Name that senders see beside the address. */
  readonly fromName: string;
};

export type Mail = {
  readonly to: readonly string[];
  readonly subject: string;
  /** Line ends CRLF. */
  readonly text: string;
  /** The same for the same mail, so that a server can tell one that comes twice. */
  readonly id: string;
};

/** The mail itself is not taken by those who are to get it: it will never be. */
export class MailRefusedError extends Error {
  override readonly name = 'MailRefusedError';
}

const PORTS: Readonly<Record<SmtpSecurity, number>> = { no: 25, starttls: 587, tls: 465 };
const CONNECT_MS = 30_000;
/** Most time of silence (daemons-and-config.md 8.3). */
const SILENCE_MS = 300_000;
const PROGRAM_MS = 300_000;
const OTHERS = 0o007;
const OTHERS_WRITE = 0o022;
const MAX_PASSWORD_BYTES = 1024;
const IDS_HEADER = 'X-IDS-OSSEC';
/** Commands whose refusal speaks of the mail, not of the server. */
const ABOUT_MAIL = new Set(['RCPT TO', 'DATA']);

/** Sends mail over SMTP, or by a program like sendmail (daemons-and-config.md 8.3). */
export class MailTransport {
  readonly #server: MailServer;
  readonly #onRefused: (address: string, reason: string) => void;

  /** @param onRefused told of each recipient that the server does not take while it takes others of the same mail */
  constructor(server: MailServer, onRefused: (address: string, reason: string) => void = () => {}) {
    this.#server = server;
    this.#onRefused = onRefused;
  }

  /** @throws MailRefusedError; Error without the password */
  async send(mail: Mail, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#server.server.startsWith('/')) await this.#byProgram(mail, signal);
    else await this.#bySmtp(mail, signal);
  }

  async #bySmtp(mail: Mail, signal: AbortSignal): Promise<void> {
    const { server: host, secure, port = PORTS[secure], helo, user, passwordFile, ca } = this.#server;
    const { createTransport } = await import('nodemailer');
    const transport = createTransport({
      host,
      port,
      secure: secure === 'tls',
      requireTLS: secure === 'starttls',
      ignoreTLS: secure === 'no',
      name: helo,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      tls: { minVersion: 'TLSv1.2', rejectUnauthorized: true, ...(ca === undefined ? {} : { ca: readFileSync(ca) }) },
      ...(user === undefined ? {} : { auth: { user, pass: readPassword(passwordFile) } }),
    });
    try {
      const { rejectedErrors = [] } = await transport.sendMail({ ...this.#message(mail), signal });
      for (const { recipient = '', message } of rejectedErrors) this.#onRefused(recipient, message);
    } catch (error) {
      signal.throwIfAborted();
      throw refusal(error) ?? error;
    } finally {
      transport.close();
    }
  }

  async #byProgram(mail: Mail, signal: AbortSignal): Promise<void> {
    const [program = '', ...args] = this.#server.server.trim().split(/\s+/);
    checkProgram(program);
    const { createTransport } = await import('nodemailer');
    const composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
    const { message } = await composer.sendMail(this.#message(mail));
    if (!Buffer.isBuffer(message)) throw new TypeError('a mail is a buffer');
    const { code, lastLine } = await runProgram({
      program,
      args,
      input: message,
      directory: '/',
      maxMs: PROGRAM_MS,
      signal,
    });
    if (code !== 0) throw new Error(`'${program}' ended with ${String(code ?? 'a signal')}: ${lastLine}`);
  }

  #message({ to, subject, text, id }: Mail) {
    const { from, fromName, replyTo, idsName, helo } = this.#server;
    return {
      from: { name: fromName, address: from },
      to: [...to],
      subject,
      text,
      xMailer: false as const,
      messageId: `<${id}@${helo}>`,
      ...(replyTo === undefined ? {} : { replyTo }),
      ...(idsName === undefined ? {} : { headers: { [IDS_HEADER]: idsName } }),
      normalizeHeaderKey: (key: string) => (key.toUpperCase() === IDS_HEADER ? IDS_HEADER : key),
      disableFileAccess: true,
      disableUrlAccess: true,
    };
  }
}

/** A refusal that is about the mail, and for good (5yz). */
function refusal(error: unknown): MailRefusedError | undefined {
  const { responseCode, command = '', message } = error as Error & { responseCode?: number; command?: string };
  if (responseCode === undefined || responseCode < 500 || !ABOUT_MAIL.has(command)) return undefined;
  return new MailRefusedError(message, { cause: error });
}

/** @throws Error when there is none, or others can read it */
function readPassword(file: string | undefined): string {
  if (file === undefined) throw new Error("'smtp_user' needs 'smtp_password_file'");
  return withRegularFileSync(file, (fd, stats) => {
    if ((stats.mode & OTHERS) !== 0) throw new Error(`'${file}' can be read or written by everybody: chmod 600`);
    if (stats.size > MAX_PASSWORD_BYTES) throw new Error(`'${file}' has ${String(stats.size)} bytes`);
    return readFileSync(fd, 'utf8').replace(/\r?\n$/, '');
  });
}

/** What is run must be nobody's but root's. @throws Error */
function checkProgram(program: string): void {
  const stats = statSync(program);
  const trusted = [0, process.geteuid?.() ?? 0];
  if (!stats.isFile() || !trusted.includes(stats.uid) || (stats.mode & OTHERS_WRITE) !== 0) {
    throw new Error(`'${program}' is not run: it must be a file of root that others cannot write`);
  }
  accessSync(program, constants.X_OK);
}
