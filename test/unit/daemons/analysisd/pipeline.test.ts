import { existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { expect } from 'chai';
import type { CheckpointData } from '../../../../daemons/analysisd/pipeline/checkpoint-data.js';
import type { ReceivedEvent } from '../../../../lib/bus/bus-event.js';
import { CheckpointStore } from '../../../../lib/journal/checkpoint-store.js';
import { type DatedName, datedPath } from '../../../../lib/output/dated-files.js';
import { PipelineHome, statefulRules, TestPipeline } from '../../../support/analysisd/pipeline-kit.js';
import { randomOf } from '../../../support/analysisd/random-of.js';

/** Local time: the day changes in the middle of a run. */
const START = new Date(2025, 11, 31, 22, 30).getTime();
const USERS = ['ann', 'bob', 'dan', 'eve', 'zoë', 'mallory'];
const sections = (global: string): string =>
  `<global><logall>yes</logall><rotate_interval>90m</rotate_interval>${global}</global>
  <journal><sync>1ms</sync><checkpoint_interval>10s</checkpoint_interval></journal>
  <command><name>lock</name><executable>lock</executable><timeout_allowed>yes</timeout_allowed></command>
  <active-response><command>lock</command><location>local</location><level>6</level><timeout>60</timeout></active-response>
  <active-response><command>lock</command><location>${global === '' ? 'server' : 'all'}</location><rules_group>^door</rules_group>
  </active-response>`;
/** Settings that take effect at a restart, the first ones to begin with. */
const SECTIONS = ['<logall_json>yes</logall_json>', '', '<jsonout_output>no</jsonout_output>'].map(sections);

/** Seeds and steps of the crash test; `SVC_SEEDS=1,2,3,4 SVC_STEPS=60` for a longer run. */
const SEEDS = process.env['SVC_SEEDS']?.split(',').map(Number) ?? [1, 2];
const STEPS = Number(process.env['SVC_STEPS'] ?? 20);

type Step =
  | { readonly kind: 'events'; readonly events: readonly ReceivedEvent[] }
  | { readonly kind: 'time'; readonly milliseconds: number }
  | { readonly kind: 'rules'; readonly level: number }
  | { readonly kind: 'restart'; readonly sections: string };

function makeSteps(random: (below: number) => number, count: number): Step[] {
  const steps: Step[] = [];
  const sequences = new Map<string, number>();
  let now = START;
  for (let index = 0; index < count; index += 1) {
    const choice = random(13);
    if (choice === 12) {
      steps.push({ kind: 'restart', sections: SECTIONS[random(SECTIONS.length)] ?? '' });
    } else if (choice === 0) {
      steps.push({ kind: 'rules', level: 3 + random(6) });
    } else if (choice < 5) {
      const milliseconds = choice === 1 ? 1_500_000 : 11_000;
      now += milliseconds;
      steps.push({ kind: 'time', milliseconds });
    } else {
      const length = 1 + random(random(6) === 0 ? 300 : 20);
      const events = Array.from({ length }, () => makeEvent(random, sequences, now));
      steps.push({ kind: 'events', events });
    }
  }
  return steps;
}

function makeEvent(random: (below: number) => number, sequences: Map<string, number>, now: number): ReceivedEvent {
  const stream = `s${String(random(3))}`;
  const sequence = (sequences.get(stream) ?? 0) + 1 + random(3);
  sequences.set(stream, sequence);
  if (random(5) === 0) return { ...reported(random), receivedAt: now + random(1000), stream, sequence };
  const user = USERS[random(USERS.length)] ?? '';
  const text =
    random(8) === 0
      ? 'Mar  7 09:15:02 gate fwd: DROP tcp 10.1.2.3:1024 10.9.9.9:22'
      : `Mar  7 09:15:02 gate doord[1]: opened by ${user} number ${String(random(50))}`;
  const agent = { id: '004', name: 'büro', ip: '10.0.0.4', labels: new Map([['site', 'north']]) };
  return {
    queue: '1',
    location: '/var/log/door.log',
    message: Buffer.from(text),
    receivedAt: now + random(1000),
    stream,
    sequence,
    ...(random(3) === 0 ? { agent } : {}),
    ...(random(10) === 0 ? { idempotency: { key: `k${String(random(20))}`, index: 0 } } : {}),
  };
}

/** What an agent's own modules tell; what they told before decides about alerts. */
function reported(random: (below: number) => number): Pick<ReceivedEvent, 'queue' | 'location' | 'message' | 'agent'> {
  const id = `00${String(random(3))}`;
  const agent = { id, name: `a${id}`, ip: '10.0.0.4', labels: new Map<string, string>() };
  const of = (queue: string, location: string, text: string): ReturnType<typeof reported> => ({
    queue,
    location,
    message: Buffer.from(text),
    agent,
  });
  const policy = { policy: 'A policy', policy_id: `policy${String(random(2))}` };
  const result = ['passed', 'failed', 'not applicable'][random(3)] ?? '';
  switch (random(8)) {
    case 0:
      return of(
        '9',
        'rootcheck',
        `File '/tmp/${String(random(9))}' is owned by root and has written permissions to anyone.`,
      );
    case 1:
      return of('3', 'nmap', `Host: 10.0.0.${String(random(3))} (), open ports: ${String(random(3))}`);
    case 2:
      return of('8', 'syscheck', `${String(random(9))}:33188:0:0:x:y:root:root:1795219200:7 /etc/${String(random(2))}`);
    case 3: {
      const numbers = {
        start_time: 1,
        end_time: 2,
        passed: random(3),
        failed: 1,
        invalid: 0,
        total_checks: 9,
        score: 5,
      };
      const hashes = {
        hash: `h${String(random(3))}`,
        hash_file: `f${String(random(8) === 0 ? 1 : 0)}`,
        file: 'policy.yml',
      };
      const summary = { type: 'summary', scan_id: random(5), name: 'A policy', ...numbers, ...hashes };
      return of('p', 'sca', JSON.stringify({ ...summary, policy_id: policy.policy_id }));
    }
    case 4:
      return of('p', 'sca', JSON.stringify({ type: 'dump_end', scan_id: random(5), policy_id: policy.policy_id }));
    default: {
      const check = { id: random(12), title: 'A check', result };
      return of('p', 'sca', JSON.stringify({ type: 'check', id: random(5), ...policy, check }));
    }
  }
}

/** Does a step. @returns what runs afterwards */
async function perform(step: Step, running: TestPipeline): Promise<TestPipeline> {
  const { home, pipeline } = running;
  switch (step.kind) {
    case 'events':
      await running.take(step.events);
      return running;
    case 'time':
      home.now += step.milliseconds;
      // Whether outputs are due for rotation is seen by what is analysed: the same in every run.
      await running.written();
      await pipeline.tick();
      return running;
    case 'rules':
      home.writeRules(statefulRules(step.level));
      await running.reload();
      return running;
    case 'restart':
      home.configure(step.sections);
      await pipeline.stop();
      return TestPipeline.start(home);
  }
}

/** Cuts outputs of a crashed home to some length that a checkpoint does not count on. */
function tearOutputs(home: PipelineHome, random: (below: number) => number): void {
  const loaded = new CheckpointStore(home.path('queue', 'journal'), () => {}).load();
  if (loaded === undefined) return;
  const { outputs } = (loaded.data as CheckpointData).analysis;
  const files = home.files();
  const known = [
    ['alertsJson', { directory: home.path('logs/alerts'), stem: 'ossec-alerts', extension: 'json' }],
    ['alertsText', { directory: home.path('logs/alerts'), stem: 'ossec-alerts', extension: 'log' }],
    ['archivesJson', { directory: home.path('logs/archives'), stem: 'ossec-archive', extension: 'json' }],
    ['responses', { directory: home.path('queue/responses'), stem: 'ossec-responses', extension: 'json' }],
  ] as const satisfies readonly (readonly [string, DatedName])[];
  for (const [stream, name] of known) {
    const state = outputs.files[stream];
    if (state === undefined) continue;
    const path = datedPath(name, state.day, state.part);
    const size = files.get(path.slice(home.root.length + 1))?.length ?? 0;
    if (size > state.length) truncateSync(path, state.length + random(size - state.length + 1));
  }
}

/** Damages the newest checkpoint, when there is another one. */
function damageCheckpoint(home: PipelineHome): void {
  const files = [0, 1].map((number) => home.path('queue', 'journal', `checkpoint.${String(number)}`));
  if (!files.every((file) => existsSync(file))) return;
  // The generation stands behind magic, version and checksum.
  const [first, second] = files.map((file) => readFileSync(file).readDoubleLE(16));
  const newest = files[(first ?? 0) > (second ?? 0) ? 0 : 1] ?? '';
  truncateSync(newest, Math.floor(statSync(newest).size / 2));
}

/** Names the first line that differs: whole files are too much to show. */
function expectSameLines(path: string, found: string, expected: string): void {
  if (found === expected) return;
  const [there, wanted] = [found.split('\n'), expected.split('\n')];
  const first = wanted.findIndex((line, index) => line !== there[index]);
  const at = first < 0 ? wanted.length : first;
  throw new Error(
    `${path}:${String(at + 1)} of ${String(wanted.length)}\n  is        ${there[at] ?? '(end)'}\n  should be ${wanted[at] ?? '(end)'}`,
  );
}

describe('pipeline of svc-analysisd', () => {
  const homes: PipelineHome[] = [];
  const makeHome = (
    options: ConstructorParameters<typeof PipelineHome>[1] = { sections: SECTIONS[0] ?? '' },
  ): PipelineHome => {
    const home = new PipelineHome(START, options);
    homes.push(home);
    return home;
  };
  afterEach(() => {
    for (const home of homes.splice(0)) home.remove();
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  async function uninterrupted(steps: readonly Step[]): Promise<PipelineHome> {
    const home = makeHome();
    let running = await TestPipeline.start(home);
    for (const step of steps) running = await perform(step, running);
    await running.written();
    await running.pipeline.stop();
    return home;
  }

  async function withCrashes(steps: readonly Step[], random: (below: number) => number): Promise<PipelineHome> {
    let home = makeHome();
    let running = await TestPipeline.start(home);
    for (const step of steps) {
      const crashes = random(5) === 0;
      const performed = perform(step, running);
      if (!crashes) {
        running = await performed;
        continue;
      }
      for (let turns = random(40); turns > 0; turns -= 1) await turn();
      const next = makeHome();
      home.copyTo(next);
      await (await performed).pipeline.stop();
      tearOutputs(next, random);
      if (random(3) === 0) damageCheckpoint(next);
      home = next;
      running = await TestPipeline.start(home);
      // What was not acknowledged is sent again; what time and people did is done.
      if (step.kind === 'events') await running.take(step.events);
    }
    await running.written();
    await running.pipeline.stop();
    return home;
  }

  for (const seed of SEEDS) {
    it(`gives the same bytes with crashes as without, seed ${String(seed)}`, async function () {
      this.timeout(60_000);
      const random = randomOf(seed);
      const steps = makeSteps(random, STEPS);
      const expected = (await uninterrupted(steps)).files();
      const crashed = await withCrashes(steps, random);
      const found = crashed.files();
      expect([...found.keys()].sort()).to.deep.equal([...expected.keys()].sort());
      const decided = [...expected].filter(([path]) => path.startsWith('queue/responses/'));
      expect(decided.flatMap(([, text]) => text.split('\n')).length, 'decisions').to.be.above(50);
      for (const [path, text] of expected) expectSameLines(path, found.get(path) ?? '', text);
      const alerts = [...expected].filter(([path]) => path.endsWith('.json')).map(([, text]) => text);
      // What decides about them is remembered of agents: 100220 to 100224.
      expect(alerts.join('').split('"id":"10022').length, 'alerts of agents').to.be.above(20);
    });
  }
});
