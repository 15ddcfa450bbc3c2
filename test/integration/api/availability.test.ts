import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { Home } from '../../../lib/home/home.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { ContractFuzzer, findingsText, reportText } from '../../support/api/fuzz/contract-fuzzer.js';
import { httpRequest } from '../../support/api/http-request.js';
import { type Probe, probesOf } from '../../support/api/rbac/permission-probes.js';
import { ResponseChecker } from '../../support/api/response-checker.js';
import { GOOD_PASSWORD } from '../../support/api/security-client.js';
import { isSpecifiedFailure } from '../../support/api/specified-failure.js';
import { basic, TEST_PASSWORD } from '../../support/api/test-api.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { removeTree } from '../../support/remove-tree.js';
import { knowFewRules, watchLittle } from '../../support/watch-little.js';

/** What an answer may take, whoever does not answer svc-apid (architecture.md 4 "Requests"). */
const LONGEST_MS = 2000;
/** Those that svc-apid asks, in the order they are stopped; those that few operations ask go together. */
const ASKED: readonly (readonly DaemonName[])[] = [
  ['svc-monitord'],
  ['svc-logcollector', 'svc-syscheckd'],
  ['svc-analysisd'],
  ['svc-authd'],
  ['svc-remoted', 'svc-modulesd'],
  ['svc-db'],
];
/** Programs are started for the first, which takes as long as it takes; streams have no end; the others end the token. */
const LEFT_OUT =
  /ConfigurationValidation$|^getAlertsStream$|^(deleteSecurityUserAuthenticate|putSecurityUserRevoke|(put|delete)SecurityConfig)$/;
const AT_ONCE = 100;
/** Requests against the real daemons; `SVC_FUZZ_DAEMON_RUNS` asks for more, and then says what came of them. */
const FUZZ_RUNS = Number(process.env['SVC_FUZZ_DAEMON_RUNS'] ?? 200);
/** They start programs, have no end, or end the daemons that are asked. */
const LEFT_OUT_IDS = [
  'getAlertsStream',
  'getManagerConfigurationValidation',
  'getClusterConfigurationValidation',
  'putManagerRestart',
  'putClusterRestart',
];

describe('with any daemon stopped or stuck', function () {
  this.timeout(180_000);
  const parent = mkdtempSync(join(tmpdir(), 'svc-available-'));
  const home = new Home(join(parent, 'h'));
  const checker = new ResponseChecker();
  const daemons = new Map<DaemonName, RunningDaemon>();
  const agent = new https.Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const probes = checker.operations
    // Those that are not built are answered by no daemon.
    .filter(({ id, credentials, missing }) => credentials === 'token' && missing === undefined && !LEFT_OUT.test(id))
    .flatMap((operation) => chosenOf(probesOf(operation, operation.actions, false)));
  let token: string;
  /** What the slowest takes while all run: this machine may have other work. */
  let usualMs = 0;

  before(async () => {
    await initHome(home, { role: 'server' });
    watchLittle(home);
    knowFewRules(home);
    const configuration = home.path('etc', 'manager.conf');
    writeFileSync(configuration, readFileSync(configuration, 'utf8').replace(/<port>151[45]</g, '<port>0<'));
    writeFileSync(
      home.path('api', 'configuration', 'api.yaml'),
      "host: ['127.0.0.1']\nport: 0\nexperimental_features: yes\naccess:\n  max_request_per_minute: 0\n  max_login_attempts: 1000000\n",
    );
    for (const name of [...ASKED.flat(), 'svc-apid'] as const) daemons.set(name, await RunningDaemon.start(name, home));
    token = (await login()).token;
    for (const name of ['one', 'two']) {
      const body = { body: JSON.stringify({ name }), type: 'application/json' };
      expect((await send('POST', '/agents', `Bearer ${token}`, body)).status).to.equal(200);
    }
    // The first time connections are made, and files read.
    await problems();
    usualMs = 0;
    expect(await problems()).to.deep.equal([]);
  });
  after(async () => {
    agent.destroy();
    for (const daemon of daemons.values()) daemon.process.kill('SIGCONT');
    await Promise.all([...daemons.values()].map((daemon) => daemon.stop()));
    removeTree(parent);
  });

  const apid = () => daemons.get('svc-apid')?.port('api') ?? 0;

  /** The fuzz changes passwords, too. */
  async function login(): Promise<{ token: string; basic: string }> {
    const initial = readFileSync(home.path('api/configuration/security/initial-admin-password'), 'utf8').trim();
    for (const password of [initial, TEST_PASSWORD, GOOD_PASSWORD]) {
      const own = basic('admin', password);
      const answer = await send('POST', '/security/user/authenticate?raw=true', own);
      if (answer.status === 200) return { token: answer.text, basic: own };
    }
    throw new Error('no password is taken');
  }

  function send(method: string, path: string, authorization: string, body?: { body: string; type: string }) {
    const headers = { authorization, ...(body === undefined ? {} : { 'content-type': body.type }) };
    const content = body === undefined ? {} : { body: body.body };
    return httpRequest({ port: apid(), tls: true, method, path, headers, ...content, agent, timeoutMs: 20_000 });
  }

  /** Sends all at once. @returns what is wrong, a line each @param limitMs none while all run */
  async function problems(limitMs?: number): Promise<string[]> {
    const found: string[] = [];
    const left = [...probes];
    const worker = async (): Promise<void> => {
      for (let probe = left.pop(); probe !== undefined; probe = left.pop()) {
        const began = performance.now();
        const problem = await problemOf(probe);
        const took = performance.now() - began;
        if (problem !== undefined) found.push(`${probe.name}: ${problem}`);
        if (limitMs === undefined) usualMs = Math.max(usualMs, took);
        else if (took > limitMs) found.push(`${probe.name}: took ${took.toFixed(0)} ms`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return found;
  }

  async function problemOf({ operation, target, body, contentType = '' }: Probe): Promise<string | undefined> {
    const content = body === undefined ? undefined : { body, type: contentType };
    const answer = await send(operation.method, target, `Bearer ${token}`, content);
    if (answer.status >= 500 && !isSpecifiedFailure(answer, operation)) return answer.text;
    try {
      checker.check(operation.method, operation.path, answer);
      return undefined;
    } catch (error) {
      return String(error);
    }
  }

  const signal = (names: readonly DaemonName[], name: NodeJS.Signals) => {
    for (const one of names) daemons.get(one)?.process.kill(name);
  };

  it('requests of the whole contract, valid and nearly, find no error that nobody meant', async function () {
    this.timeout(0);
    const log = home.path('logs', 'manager.log');
    let read = readFileSync(log, 'utf8').length;
    const fuzzer = new ContractFuzzer({
      port: apid,
      tls: true,
      login: () => login(),
      takeErrors: () => {
        const text = readFileSync(log, 'utf8').slice(read);
        read += text.length;
        return text.split('\n').filter((line) => /ERROR: .* failed: /.test(line));
      },
      leaveOut: LEFT_OUT_IDS,
    });
    const report = await fuzzer.run(FUZZ_RUNS);
    if (process.env['SVC_FUZZ_DAEMON_RUNS'] !== undefined) console.log(reportText(report));
    expect(findingsText(report)).to.equal('');
    token = (await login()).token;
  });

  it('a restart of svc-apid answers what is under way, and takes nothing new meanwhile', async () => {
    const old = daemons.get('svc-apid');
    const port = apid();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', expect: '100-continue' };
    const body = JSON.stringify({ event: 'a', log_format: 'syslog', location: 'a' });
    const request = https.request({
      ...{ host: '127.0.0.1', port, method: 'PUT', path: '/logtest', rejectUnauthorized: false, agent: false },
      headers: { ...headers, 'content-length': body.length },
    });
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    request.flushHeaders();
    // The server has it, and waits for the body.
    await once(request, 'continue');
    const stopped = old?.stop();
    await eventually('new connections are refused', () =>
      httpRequest({ port, tls: true, path: '/' }).then(
        () => false,
        (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
      ),
    );
    request.end(body);
    const [response] = await answered;
    response.resume();
    expect(response.statusCode).to.equal(200);
    expect(await stopped).to.equal(0);
    daemons.set('svc-apid', await RunningDaemon.start('svc-apid', home));
    expect((await send('GET', '/', `Bearer ${token}`)).status).to.equal(200);
    // All connections are new, and so are the files.
    expect(await problems()).to.deep.equal([]);
  });

  const all = ASKED.flat();
  for (const names of [...ASKED, all]) {
    it(`every operation answers in time while ${names === all ? 'all' : names.join(' and ')} do nothing`, async () => {
      signal(names, 'SIGSTOP');
      try {
        expect(await problems(LONGEST_MS + usualMs)).to.deep.equal([]);
      } finally {
        signal(names, 'SIGCONT');
      }
    });
  }

  for (const names of ASKED) {
    it(`every operation answers in time after ${names.join(' and ')} have stopped, too`, async () => {
      for (const name of names) expect(await daemons.get(name)?.stop()).to.equal(0);
      expect(await problems(LONGEST_MS + usualMs)).to.deep.equal([]);
    });
  }
});

/** The first, and one about an agent that is there besides the manager. */
function chosenOf(probes: readonly Probe[]): Probe[] {
  const harmless = probes.filter(({ onlyWhenRefused }) => !onlyWhenRefused);
  const ofAgent = harmless.find(({ target }) => /\b001\b/.test(target));
  return [...new Set([harmless[0] ?? probes[0], ofAgent])].filter((probe) => probe !== undefined);
}
