// `npm run demo`: a manager on a home of its own, in a temporary directory and on free ports. It sends sample lines in
// the three ways events come in, shows the alerts they raise, stops the manager and removes the home. It ends by itself.
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The whole demonstration, cleaning up not counted; a machine that needs longer is told so. */
const DEADLINE_MS = 45_000;
/** Aborted by the deadline and by signals, with the reason: whatever waits gives up. */
const over = new globalThis.AbortController();

const program = (name) => fileURLToPath(new URL(`../bin/${name}`, import.meta.url));

/** Nothing of this host is looked at, and no port is fixed, so that the demonstration runs beside any manager. */
const configuration = (followed) => `<manager_config>
  <global>
    <jsonout_output>yes</jsonout_output>
    <alerts_log>yes</alerts_log>
  </global>
  <ruleset>
    <decoder_dir>ruleset/decoders</decoder_dir>
    <rule_dir>ruleset/rules</rule_dir>
  </ruleset>
  <remote>
    <connection>secure</connection>
    <port>0</port>
  </remote>
  <auth>
    <port>0</port>
  </auth>
  <syscheck>
    <disabled>yes</disabled>
  </syscheck>
  <rootcheck>
    <disabled>yes</disabled>
  </rootcheck>
  <sca>
    <enabled>no</enabled>
  </sca>
  <wodle name="syscollector">
    <disabled>yes</disabled>
  </wodle>
  <cluster>
    <disabled>yes</disabled>
  </cluster>
  <localfile>
    <log_format>syslog</log_format>
    <location>${followed}</location>
  </localfile>
</manager_config>
`;

const attack = (second) =>
  `Nov 21 10:00:0${second} web1 sshd[311]: Failed password for root from 203.0.113.9 port 40110 ssh2`;

/** Sample lines by the way they take, and the rules whose alerts must come of them, once each in any order. */
const POSTED = [
  'Nov 21 09:59:00 web1 sshd[290]: Failed password for invalid user admin from 192.0.2.7 port 41234 ssh2',
  'Nov 21 09:59:02 web1 useradd[320]: new user: name=backup, UID=1007, GID=1007, home=/home/backup, shell=/bin/bash',
  'Nov 21 09:59:04 web1 CRON[400]: pam_unix(cron:session): session opened for user root by (uid=0)',
];
const SENT = [
  '203.0.113.9 - - [21/Nov/2026:09:59:30 +0000] "GET /cgi-bin/../../etc/passwd HTTP/1.1" 404 512 "-" "curl/8.0"',
  'Nov 21 09:59:32 web1 kernel: Out of memory: Killed process 4242 (java) total-vm:8000000kB',
];
const FOLLOWED = [1, 2, 3, 4, 5, 6, 7, 8].map(attack);
const EXPECTED = ['5710', '5902', '31104', '5108', ...Array.from({ length: 7 }, () => '5760'), '5763'];

/** Runs one of the product's programs. @returns what it wrote on standard output */
function run(name, args, { input = '', interruptible = true } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program(name), ...args], {
      stdio: 'pipe',
      ...(interruptible ? { signal: over.signal } : {}),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(stdout);
      else reject(new Error(`'${name} ${args.join(' ')}' ended with ${code}: ${(stderr || stdout).trim()}`));
    });
    // A program that ends early is told by its exit code.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

/** One call of the API. @returns the body's text */
function call(port, ca, { method, path, headers, body }) {
  return new Promise((resolve, reject) => {
    const call = request(
      { host: '127.0.0.1', servername: 'localhost', port, ca, method, path, headers, signal: over.signal },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part) => (text += part));
        response.on('error', reject);
        response.on('end', () => {
          if (response.statusCode === 200) resolve(text);
          else reject(new Error(`${method} ${path} answered ${response.statusCode}: ${text}`));
        });
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

/** @returns the alerts written so far; a line under way is not one yet */
function alertsOf(home) {
  let text = '';
  try {
    text = readFileSync(join(home, 'logs/alerts/alerts.json'), 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** Which of the expected rules no alert has come of. */
function missing(alerts) {
  const rest = [...EXPECTED];
  for (const { rule } of alerts) {
    const at = rest.indexOf(rule.id);
    if (at >= 0) rest.splice(at, 1);
  }
  return rest;
}

async function demonstrate(home, followed) {
  console.log(`Making a manager in ${home}`);
  await run('svc-control', ['init', '--home', home]);
  writeFileSync(join(home, 'etc/manager.conf'), configuration(followed));
  writeFileSync(join(home, 'api/configuration/api.yaml'), "host: ['127.0.0.1']\nport: 0\n");
  writeFileSync(followed, '');
  await run('svc-control', ['start', '--home', home]);
  const { data } = JSON.parse(await run('svc-control', ['status', '-j', '--home', home]));
  const running = data.filter(({ state }) => state === 'running');
  console.log(`Running: ${running.map(({ daemon }) => daemon).join(', ')}`);
  const { port } = Object.values(running.find(({ daemon }) => daemon === 'svc-apid').addresses).find(
    ({ protocol }) => protocol === 'https',
  );

  console.log(`\n1. Through the API, POST https://localhost:${port}/events:`);
  for (const line of POSTED) console.log(`   ${line}`);
  const ca = readFileSync(join(home, 'api/configuration/ssl/server.crt'));
  const password = readFileSync(join(home, 'api/configuration/security/initial-admin-password'), 'utf8').trim();
  const token = await call(port, ca, {
    method: 'POST',
    path: '/security/user/authenticate?raw=true',
    headers: { authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}` },
  });
  const answer = await call(port, ca, {
    method: 'POST',
    path: '/events',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ events: POSTED }),
  });
  console.log(`   ${answer}`);

  console.log('\n2. From a script, svc-send web1:/var/log/demo.log:');
  for (const line of SENT) console.log(`   ${line}`);
  const sent = await run('svc-send', ['web1:/var/log/demo.log', '--home', home], { input: SENT.join('\n') + '\n' });
  if (sent !== '') console.log(`   ${sent.trim()}`);

  console.log(`\n3. From a log file that svc-logcollector follows, ${followed}:`);
  for (const line of FOLLOWED) console.log(`   ${line}`);
  appendFileSync(followed, FOLLOWED.join('\n') + '\n');

  let alerts = alertsOf(home);
  while (missing(alerts).length > 0) {
    await delay(100, undefined, { signal: over.signal }).catch(() => {
      throw new Error(`${over.signal.reason.message}; no alert yet of the rules ${missing(alerts).join(', ')}`);
    });
    alerts = alertsOf(home);
  }
  console.log('\nAlerts (logs/alerts/alerts.json of the home):\n');
  console.log('  level  rule   where                            what');
  for (const { rule, location } of alerts) {
    const where = location === followed ? 'demo.log (followed)' : location;
    console.log(`  ${String(rule.level).padStart(5)}  ${rule.id.padEnd(5)}  ${where.padEnd(31)}  ${rule.description}`);
  }
  console.log(`
The eighth failed login in a row raised level 10 (rule 5763). The cron line raised nothing: its rule has level 0.

To look further:
  npm start
      the same on a home that stays (.home), following the logs of this host
  bin/svc-logtest --offline --ruleset etc/ruleset
      type log lines, see decoder, rule and alert
  README.md
      the tour, and where to go on: configuration, rules of your own, all in docs/`);
}

const home = mkdtempSync(join(tmpdir(), 'svc-demo-'));
const followed = join(home, 'demo.log');
void delay(DEADLINE_MS, undefined, { ref: false }).then(() =>
  over.abort(new Error(`not done within ${DEADLINE_MS / 1000} s; is this machine very busy?`)),
);
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => over.abort(new Error(`stopped by ${name}`)));
try {
  await demonstrate(home, followed);
} catch (error) {
  process.exitCode = 1;
  console.error(`demo: ${error.name === 'AbortError' ? over.signal.reason.message : error.message}`);
}
try {
  // Not interruptible: what was started is stopped whatever happened.
  await run('svc-control', ['stop', '--home', home], { interruptible: false });
  rmSync(home, { recursive: true, force: true });
  console.log(`\nStopped; ${home} is removed.`);
} catch (error) {
  process.exitCode = 1;
  console.error(`demo: ${home} is left as it is: ${error.message}`);
}
