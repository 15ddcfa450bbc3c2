import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';

export type ReceivedMail = {
  readonly helo: string;
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and text as they came, dots unstuffed. */
  readonly message: string;
  readonly login: string | undefined;
  readonly secure: boolean;
};

export type SmtpReceiverOptions = {
  readonly certificate?: { readonly key: string; readonly cert: string };
  /** TLS from the first byte; else STARTTLS is offered where there is a certificate. */
  readonly tls?: boolean;
  /** Takes mails only after a login. */
  readonly auth?: boolean;
};

/** An SMTP server on the loopback that keeps what it gets. */
export class SmtpReceiver {
  readonly mails: ReceivedMail[] = [];
  /** Commands that came, in order. */
  readonly commands: string[] = [];
  /** Replies to commands (`RCPT`, `RCPT a@x.test`, `DATA`, `.`) instead of the good ones; '' hangs. */
  readonly replies = new Map<string, string>();
  readonly #options: SmtpReceiverOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(options: SmtpReceiverOptions = {}) {
    this.#options = options;
    const { certificate, tls = false } = options;
    const serve = (socket: Socket): void => {
      this.#sockets.add(socket);
      new SmtpSession(this, options, socket, tls);
    };
    this.#server = tls ? createTlsServer({ ...certificate }, serve) : createServer(serve);
  }

  async start(port = 0): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get options(): SmtpReceiverOptions {
    return this.#options;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }
}

class SmtpSession {
  #buffer = '';
  #socket: Socket;
  #helo = '';
  #from = '';
  #to: string[] = [];
  #login: string | undefined;
  #inData = false;
  #secure: boolean;

  constructor(
    private readonly receiver: SmtpReceiver,
    private readonly options: SmtpReceiverOptions,
    socket: Socket,
    secure: boolean,
  ) {
    this.#secure = secure;
    this.#socket = socket;
    this.#listen(socket);
    this.#reply('220 test ESMTP');
  }

  #listen(socket: Socket): void {
    this.#socket = socket;
    socket.on('error', () => {});
    socket.on('data', (data: Buffer) => {
      this.#buffer += data.toString();
      for (;;) {
        const end = this.#buffer.indexOf(this.#inData ? '\r\n.\r\n' : '\r\n');
        if (end < 0) return;
        const text = this.#buffer.slice(0, end);
        this.#buffer = this.#buffer.slice(end + (this.#inData ? 5 : 2));
        if (this.#inData) this.#message(text);
        else this.#command(text);
      }
    });
  }

  #reply(text: string): void {
    this.#socket.write(`${text}\r\n`);
  }

  /** @returns whether the reply of the test was given instead */
  #answered(name: string): boolean {
    const reply = this.receiver.replies.get(name);
    if (reply === undefined) return false;
    if (reply !== '') this.#reply(reply);
    return true;
  }

  #command(line: string): void {
    const [verb = ''] = line.split(' ');
    this.receiver.commands.push(verb);
    const address = /<(.*)>/.exec(line)?.[1] ?? '';
    if (this.#answered(verb) || this.#answered(`${verb} ${address}`)) return;
    switch (verb) {
      case 'EHLO':
      case 'HELO':
        this.#helo = line.slice(5);
        return this.#reply(['250-test', ...this.#extensions(), '250 SIZE 10000000'].join('\r\n'));
      case 'STARTTLS':
        this.#reply('220 go on');
        this.#secure = true;
        this.#socket.removeAllListeners('data');
        return this.#listen(new TLSSocket(this.#socket, { isServer: true, ...this.options.certificate }));
      case 'AUTH': {
        const [, user = '', password = ''] = Buffer.from(line.split(' ')[2] ?? '', 'base64')
          .toString()
          .split('\0');
        this.#login = `${user}:${password}`;
        return this.#reply(password === 'secret' ? '235 welcome' : '535 who are you');
      }
      case 'MAIL':
        this.#from = address;
        this.#to = [];
        return this.#reply(this.options.auth === true && this.#login === undefined ? '530 log in' : '250 ok');
      case 'RCPT':
        this.#to.push(address);
        return this.#reply('250 ok');
      case 'DATA':
        this.#inData = true;
        return this.#reply('354 go on');
      case 'QUIT':
        this.#reply('221 bye');
        this.#socket.end();
        return;
      default:
        this.#reply('250 ok');
    }
  }

  #extensions(): string[] {
    const { certificate, auth = false } = this.options;
    return [
      ...(certificate !== undefined && !this.#secure ? ['250-STARTTLS'] : []),
      ...(auth ? ['250-AUTH PLAIN'] : []),
    ];
  }

  #message(text: string): void {
    this.#inData = false;
    if (this.#answered('.')) return;
    this.receiver.mails.push({
      helo: this.#helo,
      from: this.#from,
      to: this.#to,
      message: text.replace(/^\.\./gm, '.'),
      login: this.#login,
      secure: this.#secure,
    });
    this.#reply('250 taken');
  }
}
