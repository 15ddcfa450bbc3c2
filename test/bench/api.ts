import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { initHome } from '../../bin/control/home/init-home.js';
import { Home } from '../../lib/home/home.js';
import { httpRequest } from '../support/api/http-request.js';
import { LoadClient, type LoadReport } from '../support/api/load-client.js';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { calibrate } from '../support/process/measuring.js';
import { processUsage } from '../support/process/process-usage.js';
import { sharedData } from '../support/shared-data.js';
import { TemporaryHome } from '../support/temporary-home.js';

/*
 * Figures of requests to the API: `npm run bench -- api [--ruleset DIR] [--seconds 5] [--connections 16] [--logins 64] [--only TEXT]`. The
 * real svc-apid over HTTPS with the svc-monitord and svc-analysisd that it asks, on a temporary home with the public ruleset
 * where it is there; the directory holds `decoders/`, `rules/` and `lists/`. Clients are in one process beside it. Each kind
 * of request whose name has the text is asked alone, on one connection, and side by side; CPU is that of svc-apid for one.
 */
const { values } = parseArgs({
  options: {
    ruleset: { type: 'string' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '16' },
    logins: { type: 'string', default: '64' },
    only: { type: 'string', default: '' },
  },
});
const seconds = Number(values.seconds);
const connections = Number(values.connections);
const logins = Number(values.logins);
const ruleset = values.ruleset ?? sharedData('ruleset');
if (!(seconds > 0) || !(connections > 0) || !(logins >= 0)) {
  console.error(
    'usage: npm run bench -- api [--ruleset DIR] [--seconds N] [--connections N] [--logins N] [--only TEXT]',
  );
  process.exit(2);
}

/** Longer than the logins take. */
const MOST_SECONDS = 120;
const LOG_LINE = 'Nov 21 03:00:00 web01 sshd[4242]: Failed password for root from 203.0.113.9 port 4711 ssh2';

/** As many as one request may bring. */
const EVENTS_AT_ONCE = 100;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A home as a new one is, with the ruleset of the bench. */
async function makeHome(): Promise<Home> {
  const temporary = new TemporaryHome();
  rmSync(temporary.root, { recursive: true });
  const home = new Home(temporary.root);
  await initHome(home, { role: 'server' });
  if (ruleset !== undefined) {
    for (const [from, to] of [
      ['decoders', 'ruleset/decoders'],
      ['rules', 'ruleset/rules'],
      ['lists', 'etc/lists'],
    ] as const) {
      rmSync(home.path(to), { recursive: true });
      cpSync(join(ruleset, from), home.path(to), { recursive: true });
    }
  }
  const settings = "host: ['127.0.0.1']\nport: 0\naccess:\n  max_request_per_minute: 0\n";
  writeFileSync(home.path('api', 'configuration', 'api.yaml'), settings);
  return home;
}

type Asked = { readonly method: string; readonly path: string; readonly body?: object; readonly etag?: string };

/** The API of the bench, with what its clients need to ask it. */
class BenchedApi {
  readonly #daemon: RunningDaemon;
  readonly #client: LoadClient;
  readonly #credentials: string;
  #token = '';

  constructor(home: Home, daemon: RunningDaemon, client: LoadClient) {
    this.#daemon = daemon;
    this.#client = client;
    const password = readFileSync(home.path('api/configuration/security/initial-admin-password'), 'utf8').trim();
    this.#credentials = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
  }

  async login(): Promise<void> {
    const answer = await httpRequest({
      port: this.#port,
      tls: true,
      method: 'POST',
      path: '/security/user/authenticate?raw=true',
      headers: { authorization: this.#credentials },
    });
    if (answer.status !== 200) throw new Error(`login: ${answer.text}`);
    this.#token = answer.text;
  }

  async ask({ method, path, body, etag }: Asked) {
    return httpRequest({
      port: this.#port,
      tls: true,
      method,
      path,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(etag === undefined ? {} : { 'if-none-match': etag }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Asks alone, then side by side, and says what came of it. */
  async measure(name: string, asked: Asked, status = 200): Promise<void> {
    if (!name.includes(values.only)) return;
    for (const count of [1, connections]) {
      let before = 0;
      const order = { port: this.#port, request: this.#bytes(asked), status, connections: count, seconds };
      const report = await this.#client.run(order, () => (before = this.#cpu()));
      const cpu = ((this.#cpu() - before) * 1000) / report.requests;
      say(
        `${name.padEnd(34)} ${count === 1 ? 'alone       ' : 'side by side'} ${shown(report)}, CPU ${cpu.toFixed(2)} ms`,
      );
    }
  }

  /** Logins at once, while another asks again and again. */
  async measureLogins(name: string, asked: Asked): Promise<void> {
    const order = { port: this.#port, request: this.#bytes(asked), status: 200, connections: 1, seconds: MOST_SECONDS };
    let [began, cpu] = [0, 0];
    const report = await this.#client.run(order, () => {
      [began, cpu] = [performance.now(), this.#cpu()];
      void Promise.all(Array.from({ length: logins }, () => this.login())).finally(() => this.#client.end());
    });
    const took = (performance.now() - began) / 1000;
    const each = ((this.#cpu() - cpu) * 1000) / logins;
    say(`${name.padEnd(34)} beside them  ${shown(report)}`);
    say(
      `${String(logins)} logins at once: all within ${took.toFixed(1)} s, CPU ${each.toFixed(0)} ms each with those requests`,
    );
  }

  get #port(): number {
    return this.#daemon.port('api');
  }

  #cpu(): number {
    return processUsage(this.#daemon.process.pid).cpu;
  }

  #bytes({ method, path, body, etag }: Asked): string {
    const content = body === undefined ? '' : JSON.stringify(body);
    const lines = [
      `${method} ${path} HTTP/1.1`,
      'host: 127.0.0.1',
      `authorization: Bearer ${this.#token}`,
      ...(etag === undefined ? [] : [`if-none-match: ${etag}`]),
      ...(body === undefined ? [] : ['content-type: application/json', `content-length: ${String(content.length)}`]),
    ];
    return `${lines.join('\r\n')}\r\n\r\n${content}`;
  }
}

function shown({ requests, seconds: took, bytes, cpu, p50, p99, most }: LoadReport): string {
  const rate = Math.round(requests / took).toLocaleString('en-US');
  const share = ((cpu / took) * 100).toFixed(0);
  return (
    `${rate.padStart(6)} /s, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, most ${most.toFixed(1)} ms, ` +
    `${String(bytes)} bytes, clients ${share} % of a core`
  );
}

const { sha256Seconds, regExpSeconds } = calibrate();
say(
  `calibration: sha256 of 512 MiB ${sha256Seconds.toFixed(2)} s, 5,000,000 expressions ${regExpSeconds.toFixed(2)} s`,
);
const home = await makeHome();
const daemons: RunningDaemon[] = [];
const client = await LoadClient.start();
try {
  for (const name of ['svc-monitord', 'svc-analysisd', 'svc-apid'] as const) {
    daemons.push(await RunningDaemon.start(name, home));
  }
  const [, , apid] = daemons;
  if (apid === undefined) throw new Error('no svc-apid');
  const api = new BenchedApi(home, apid, client);
  await api.login();
  const get = (path: string): Asked => ({ method: 'GET', path });
  await api.measure('GET /manager/status', get('/manager/status'));
  await api.measure('GET /rules?limit=500', get('/rules?limit=500'));
  const { etag } = (await api.ask(get('/rules?limit=500'))).headers;
  if (etag !== undefined) await api.measure('the same, unchanged', { ...get('/rules?limit=500'), etag }, 304);
  await api.measure('GET /rules?limit=10&search=ssh', get('/rules?limit=10&search=ssh'));
  const event = { event: LOG_LINE, log_format: 'syslog', location: 'bench' };
  const opened = (await api.ask({ method: 'PUT', path: '/logtest', body: event })).json() as {
    data: { token: string };
  };
  await api.measure('PUT /logtest in a session', {
    method: 'PUT',
    path: '/logtest',
    body: { ...event, token: opened.data.token },
  });
  const many = Array.from({ length: EVENTS_AT_ONCE }, () => LOG_LINE);
  await api.measure('POST /events, 100 at a time', { method: 'POST', path: '/events', body: { events: many } });
  if (logins > 0 && values.only === '') await api.measureLogins('GET /manager/status', get('/manager/status'));
} finally {
  await client.stop();
  for (const daemon of daemons.toReversed()) await daemon.stop();
  rmSync(home.root, { recursive: true, force: true });
}
