import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { readDaemonStats } from '../../../bin/control/daemon-stats.js';
import { statsLines } from '../../../bin/control/stats-table.js';
import { readDaemonStatus } from '../../../lib/daemon/daemon-status.js';
import type { ApiList } from '../../support/api/api-list.js';
import { httpRequest, type TestResponse } from '../../support/api/http-request.js';
import { ResponseChecker } from '../../support/api/response-checker.js';
import { basic } from '../../support/api/test-api.js';
import { daemonsRun } from '../../support/daemon/daemons-run.js';
import { productProgram } from '../../support/daemon/product-program.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { writeEngineFiles } from '../../support/engine/engine-files.js';
import { eventually } from '../../support/eventually.js';
import { removeTree } from '../../support/remove-tree.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const DECODERS = `<decoder name="door"><program_name>^doord$</program_name></decoder>
<decoder name="door-open">
  <parent>door</parent><regex>^opened by \\S+ number (\\d+)$</regex><order>door.number</order>
</decoder>
`;
const RULES = `<group name="syslog,">
  <rule id="1" level="0" noalert="1"><category>syslog</category><description>Any syslog.</description></rule>
</group>
<group name="door,">
  <rule id="100200" level="5"><decoded_as>door</decoded_as><description>Door opened.</description></rule>
</group>
`;
/** No page that is in use already has room for an event of this size. */
const EVENT_BYTES = 10_000;
/** More than a segment of the journal, which has 1 MB. */
const SEGMENT_EVENTS = 100;
const REQUEST_MS = 12_000;
/** For a busy machine. */
const PATIENCE_MS = 40_000;
/** A command of the system that hangs must not keep what comes after it. */
const COMMAND_MS = 10_000;

describe('a disk that takes nothing', function () {
  this.timeout(120_000);
  const checker = new ResponseChecker();
  let disk: string | undefined;
  /** Mounted beside the disk, to be taken away first. */
  let mounts: string[] = [];
  let home: TemporaryHome;
  const programs: TestProgram[] = [];
  let analysisd: TestProgram;
  let port: number;
  let authorization: string;
  let next = 0;
  let acknowledged: number[];
  let refused: number[];

  before(async function () {
    const directory = mkdtempSync(join(tmpdir(), 'svc-disk-'));
    disk = directory;
    const problem = process.getuid?.() === 0 ? mount('-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', directory) : 'not root';
    if (problem !== undefined) {
      process.stdout.write(`    skipped, a small tmpfs cannot be mounted: ${problem}\n`);
      this.skip();
    }
    makeHome(directory);
    analysisd = launch('svc-analysisd');
    const apid = launch('svc-apid');
    const addresses = await daemonsRun(
      home,
      new Map([
        ['svc-analysisd', analysisd],
        ['svc-apid', apid],
      ]),
    );
    port = addresses.get('svc-apid')?.['api']?.port ?? 0;
    const password = readFileSync(home.path('api/configuration/security/initial-admin-password'), 'utf8').trim();
    const login = { authorization: basic('admin', password) };
    const path = '/security/user/authenticate?raw=true';
    authorization = `Bearer ${(await httpRequest({ port, tls: true, method: 'POST', path, headers: login })).text}`;
  });
  after(async () => {
    for (const program of programs) program.signal('SIGKILL');
    const ended = Promise.all(programs.map((program) => program.ended));
    await Promise.race([ended, delay(COMMAND_MS, undefined, { ref: false })]);
    for (const path of mounts) unmount('-l', path);
    if (disk === undefined) return;
    unmount('-l', disk);
    removeTree(disk);
  });
  beforeEach(() => {
    acknowledged = [];
    refused = [];
  });

  /** @returns why it failed */
  function mount(...args: string[]): string | undefined {
    const { status, stderr, error } = spawnSync('mount', args, { encoding: 'utf8', timeout: COMMAND_MS });
    if (status === 0) return undefined;
    return error?.message ?? stderr.trim();
  }

  /** @returns its exit status */
  function unmount(...args: string[]): number | null {
    return spawnSync('umount', args, { stdio: 'ignore', timeout: COMMAND_MS }).status;
  }

  function makeHome(below: string): void {
    home = new TemporaryHome(undefined, below);
    writeEngineFiles(home, { name: 'door', text: DECODERS });
    writeFileSync(home.path('ruleset/rules/door.xml'), RULES);
    mkdirSync(home.path('api/configuration/security'), { recursive: true });
    writeFileSync(
      home.path('etc/manager.conf'),
      `<manager_config>
  <alerts><log_alert_level>3</log_alert_level></alerts>
  <journal><segment_size>1MB</segment_size><max_size>4MB</max_size><checkpoint_interval>1</checkpoint_interval></journal>
</manager_config>
`,
    );
    writeFileSync(home.path('api/configuration/api.yaml'), 'host: ["127.0.0.1"]\nport: 0\n');
  }

  function launch(name: string): TestProgram {
    const program = new TestProgram(productProgram(name), ['--home', home.root, '-f']);
    programs.push(program);
    return program;
  }

  /** Sends events of new numbers, and notes what was said about them. */
  async function post(count = 1): Promise<TestResponse> {
    const numbers = Array.from({ length: count }, () => next++);
    const filler = 'x'.repeat(EVENT_BYTES);
    const events = numbers.map(
      (number) => `Mar  7 09:15:02 gate doord[1]: opened by ${filler} number ${String(number)}`,
    );
    const headers = { authorization, 'content-type': 'application/json' };
    const body = JSON.stringify({ events });
    const answer = await httpRequest({
      ...{ port, tls: true, method: 'POST', path: '/events', headers, body, timeoutMs: REQUEST_MS },
    });
    if (answer.status === 200) acknowledged.push(...numbers);
    else if (answer.text.includes('None of these will be analysed')) refused.push(...numbers);
    return answer;
  }

  /** Takes all the room that is left. @returns the file that has it */
  function fill(): string {
    const path = join(home.root, 'filler');
    const file = openSync(path, 'w');
    try {
      // More than the disk has: it ends with an error before.
      for (let written = 0; written < 64; written += 1) writeSync(file, Buffer.alloc(1024 * 1024));
      throw new Error('the disk is larger than it should be');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
    return path;
  }

  /** What `svc-control stats` shows of the two daemons. */
  async function stats(): Promise<string> {
    return statsLines(await readDaemonStats(home, ['svc-apid', 'svc-analysisd']), false).join('\n');
  }

  async function metrics(): Promise<{ pipeline: object; journal: { blocked: string | null } }> {
    const path = '/manager/daemons/stats';
    const query = '?daemons_list=svc-analysisd';
    const answer = await httpRequest({
      port,
      tls: true,
      method: 'GET',
      path: path + query,
      headers: { authorization },
    });
    checker.check('GET', path, answer);
    const [item] = (answer.json() as ApiList).data.affected_items as { metrics: never }[];
    return item!.metrics;
  }

  function alerts(): number[] {
    return readFileSync(home.path('logs/alerts/alerts.json'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => Number((JSON.parse(line) as { data: { door: { number: string } } }).data.door.number));
  }

  const said = (part: string): number => analysisd.stderr.split('\n').filter((line) => line.includes(part)).length;

  async function expectRefusal(answer: TestResponse): Promise<void> {
    expect(answer.status, answer.text).to.equal(503);
    expect(Number(answer.headers['retry-after'])).to.be.greaterThan(0);
    const states = await readDaemonStatus(home, ['svc-apid', 'svc-analysisd']);
    expect([...states.values()].map(({ state }) => state)).to.deep.equal(['running', 'running']);
  }

  /** Events are taken again by themselves, and what was acknowledged in this test has one alert each. */
  async function expectAllWell(): Promise<void> {
    await eventually(
      'events are taken again',
      async () => {
        await delay(500);
        return (await post()).status === 200;
      },
      PATIENCE_MS,
    );
    await eventually(
      'the alerts',
      () => {
        const found = new Set(alerts());
        return acknowledged.every((number) => found.has(number));
      },
      PATIENCE_MS,
    );
    const counts = new Map<number, number>();
    for (const number of alerts()) counts.set(number, (counts.get(number) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > 1)).to.deep.equal([]);
    expect(refused.filter((number) => counts.has(number))).to.deep.equal([]);
  }

  it('full: refuses events with 503 and goes on when there is room', async () => {
    expect((await post()).status).to.equal(200);
    const filler = fill();
    await expectRefusal(await post());
    expect(refused).to.have.length(1);
    // Long enough to see that daemons are alive and do not talk.
    const beat = statSync(home.path('var/run/svc-analysisd.heartbeat')).mtimeMs;
    await eventually('a heartbeat', () => statSync(home.path('var/run/svc-analysisd.heartbeat')).mtimeMs > beat + 1500);
    await expectRefusal(await post(3));
    expect(said('Events cannot be taken'), analysisd.stderr).to.equal(1);
    expect(await stats()).to.match(
      /EVENTS ARE REFUSED: .*no space left[^]*svc-apid: its events are refused: .*no space/,
    );
    expect((await metrics()).journal.blocked).to.include('no space left');
    rmSync(filler);
    await expectAllWell();
    expect(refused).to.have.length(4);
    expect(await stats())
      .to.not.include('REFUSED:')
      .and.not.include('refused:');
    const { pipeline, journal } = await metrics();
    expect(pipeline).to.include({
      journaled: acknowledged.length,
      analysed: acknowledged.length,
      alerts: acknowledged.length,
    });
    expect(journal.blocked).to.equal(null);
  });

  it('full, and killed: loses nothing that was acknowledged', async () => {
    await post(20);
    const filler = fill();
    await post(20);
    analysisd.signal('SIGKILL');
    await analysisd.ended;
    // Nobody is there: the answer does not wait for one.
    const answer = await post();
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '5']);
    rmSync(filler);
    analysisd = launch('svc-analysisd');
    await expectAllWell();
    expect(acknowledged.length).to.be.greaterThan(20);
  });

  it('read-only: the journal begins no other segment, and does when it can again', async () => {
    const journal = home.path('queue/journal');
    expect(mount('--bind', journal, journal)).to.equal(undefined);
    mounts.push(journal);
    expect(mount('-o', 'remount,bind,ro', journal)).to.equal(undefined);
    let answer = await post(SEGMENT_EVENTS);
    for (let more = 0; answer.status === 200 && more < 4; more += 1) answer = await post(SEGMENT_EVENTS);
    await expectRefusal(answer);
    expect(unmount(journal)).to.equal(0);
    mounts = mounts.filter((path) => path !== journal);
    await expectAllWell();
  });

  it('gone: what is acknowledged is in a journal that is there', async () => {
    const journal = home.path('queue/journal');
    renameSync(journal, `${journal}.away`);
    const answer = await post();
    if (answer.status !== 200) await expectRefusal(answer);
    else expect(existsSync(journal) && readdirSync(journal).length > 0).to.equal(true);
    if (!existsSync(journal)) renameSync(`${journal}.away`, journal);
    await expectAllWell();
    analysisd.signal('SIGTERM');
    expect((await analysisd.ended).code).to.equal(0);
  });
});
