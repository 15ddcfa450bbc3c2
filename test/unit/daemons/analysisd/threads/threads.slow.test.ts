import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { ReceivedEvent } from '../../../../../lib/bus/bus-event.js';
import { PipelineHome, TestPipeline } from '../../../../support/analysisd/pipeline-kit.js';
import { randomOf } from '../../../../support/analysisd/random-of.js';

/** Local time: the hour changes in the middle of a run, and the day. */
const START = new Date(2025, 11, 31, 22, 59).getTime();
const SEEDS = process.env['SVC_SEEDS']?.split(',').map(Number) ?? [1, 2];
const STEPS = Number(process.env['SVC_STEPS'] ?? 25);
const AGENTS = 12;
/** Shards take pieces of it and give them back all the time, and forget what they remember. */
const LITTLE_MEMORY = 150_000;
const USERS = ['ann', 'bob', 'dan', 'eve', 'mallory'];

/** Events an hour has as a rule, of which there are more. */
const AVERAGE = 40;
const CUSTOM = '<custom_alert_output>$TIMESTAMP.$FTELL $RULEID $LOCATION $FULLLOG at $FTELL</custom_alert_output>';

const SECTIONS = `<global><logall>yes</logall><logall_json>yes</logall_json></global>
  <journal><sync>1ms</sync><checkpoint_interval>10s</checkpoint_interval></journal>
  <command><name>lock</name><executable>lock</executable><timeout_allowed>yes</timeout_allowed></command>
  <active-response><command>lock</command><location>local</location><level>6</level><timeout>60</timeout></active-response>`;

const sections = (threads: number, isCustom = false): string =>
  `${SECTIONS}<analysis><threads>${String(threads)}</threads></analysis>${isCustom ? `<global>${CUSTOM}</global>` : ''}`;

const DECODERS = `<decoder name="door"><program_name>^doord$</program_name></decoder>
<decoder name="door-open"><parent>door</parent><prematch>^opened</prematch>
  <regex>^opened by (\\S+) number (\\d+)$</regex><order>user, door.number</order><fts>name, user, location</fts></decoder>
<decoder name="fw"><program_name>^fwd$</program_name><type>firewall</type></decoder>
<decoder name="fw-1"><parent>fw</parent><regex>^(\\w+) (\\w+) (\\S+):(\\d+) (\\S+):(\\d+)</regex>
  <order>action,protocol,srcip,srcport,dstip,dstport</order></decoder>
<decoder name="ids"><program_name>^idsd$</program_name><type>ids</type></decoder>
<decoder name="ids-1"><parent>ids</parent><regex>^(\\S+) from (\\S+)</regex><order>id,srcip</order><fts>name, id, srcip</fts></decoder>
<decoder name="join"><program_name>^joind$</program_name><accumulate /></decoder>
<decoder name="join-1"><parent>join</parent><regex>^conn=(\\d+) user (\\S+)</regex><order>id,user</order></decoder>
<decoder name="join-1"><parent>join</parent><regex>^conn=(\\d+) from (\\S+)</regex><order>id,srcip</order></decoder>`;

type Random = (below: number) => number;

/** Rules with every kind of memory, some of it of one agent and some of all. */
function makeRules(random: Random, isGlobal: boolean): string {
  const storms = Array.from({ length: 3 }, (_, index) => {
    const inside = ['<same_user />', '<same_location />', '<different_user />', ''][random(4)] ?? '';
    const of =
      ['<if_matched_sid>100200</if_matched_sid>', '<if_matched_group>door</if_matched_group>'][random(2)] ?? '';
    const ignore = random(3) === 0 ? ` ignore="${String(1 + random(20))}"` : '';
    return `<rule id="${String(100210 + index)}" level="${String(8 + random(6))}" frequency="${String(2 + random(4))}"
      timeframe="${String(5 + random(60))}"${ignore}>${of}${inside}${isGlobal && index === 0 ? '<global_frequency />' : ''}
      <description>Storm ${String(index)} of $(user).</description></rule>`;
  }).join('\n');
  return `<group name="syslog,">
  <rule id="1" level="0" noalert="1"><category>syslog</category><description>Any syslog.</description></rule>
  <rule id="2" level="0" noalert="1"><category>firewall</category><description>Any firewall.</description></rule>
  <rule id="3" level="0" noalert="1"><category>ids</category><description>Any ids.</description></rule>
  <rule id="4" level="0" noalert="1"><category>ossec</category><description>Any ossec.</description></rule>
</group>
<group name="door,">
  <rule id="100200" level="${String(3 + random(3))}"><decoded_as>door</decoded_as><description>Door $(door.number) opened.</description></rule>
  <rule id="100201" level="6"><if_sid>100200</if_sid><if_fts /><description>A new user.</description></rule>
  <rule id="100203" level="7" ignore="${String(random(40))}"><if_sid>100200</if_sid><user>^eve</user><description>Eve.</description></rule>
  <rule id="100204" level="3"><if_sid>100200</if_sid><user>^dan</user><check_diff /><description>Dan changed.</description></rule>
  <rule id="100205" level="4"><if_sid>100200</if_sid><user>^mal</user><ignore>user, location</ignore><description>Mallory.</description></rule>
  ${storms}
</group>
<group name="ids,">
  <rule id="100300" level="5"><decoded_as>ids</decoded_as><description>Attack.</description></rule>
  <rule id="100301" level="8"><if_sid>100300</if_sid><if_fts /><description>New attack.</description></rule>
</group>
<group name="join,">
  <rule id="100400" level="3"><decoded_as>join</decoded_as><description>Join of $(user) from $(srcip).</description></rule>
</group>
<group name="modules,">
  <rule id="100600" level="4"><decoded_as>sca</decoded_as><description>Check $(sca.check.title).</description></rule>
  <rule id="100601" level="4"><decoded_as>rootcheck</decoded_as><if_fts /><description>Rootcheck.</description></rule>
  <rule id="100602" level="4"><decoded_as>hostinfo_modified</decoded_as><description>Host.</description></rule>
</group>
<group name="fw,">
  <rule id="100500" level="5"><category>firewall</category><action>DROP</action><description>Dropped.</description></rule>
</group>`;
}

function makeMessage(random: Random): { readonly queue: string; readonly text: string } {
  const number = String(random(20));
  const user = USERS[random(USERS.length)] ?? '';
  switch (random(14)) {
    case 0:
      return { queue: '1', text: `Mar  7 09:15:02 gate fwd: DROP tcp 10.1.2.${number}:1024 10.9.9.9:22` };
    case 1:
      return { queue: '1', text: 'Mar  7 09:15:02 gate fwd: DROP tcp' };
    case 2:
      return {
        queue: '1',
        text: `Mar  7 09:15:02 gate idsd: attack-${'x'.repeat(random(20))}${number} from 10.0.0.${number}`,
      };
    case 3:
      return {
        queue: '1',
        text: `Mar  7 09:15:02 gate joind: conn=${number} ${random(2) === 0 ? `user ${user}` : 'from 10.3.3.3'}`,
      };
    case 4:
      return { queue: '3', text: `Host: 10.5.5.${number} (), open ports: ${String(random(3))}` };
    case 6: {
      const check = { id: random(4), title: 'A check', result: random(2) === 0 ? 'passed' : 'failed' };
      return { queue: 'p', text: JSON.stringify({ type: 'check', id: 7, policy: 'P', policy_id: 'p1', check }) };
    }
    case 5:
      return { queue: '9', text: `[ALERT] Trojan number ${number}` };
    default:
      return { queue: '1', text: `Mar  7 09:15:02 gate doord[1]: opened by ${user} number ${number}` };
  }
}

function makeEvents(random: Random, sequences: Map<string, number>, now: number): ReceivedEvent[] {
  const length = 1 + random(random(4) === 0 ? 400 : 30);
  return Array.from({ length }, () => {
    const stream = `s${String(random(3))}`;
    const sequence = (sequences.get(stream) ?? 0) + 1 + random(2);
    sequences.set(stream, sequence);
    const { queue, text } = makeMessage(random);
    const id = String(random(AGENTS)).padStart(3, '0');
    const agent = { id, name: `host-${id}`, ip: '10.0.0.4', labels: new Map([['site', `north-${id}`]]) };
    return {
      queue,
      location: '/var/log/door.log',
      message: Buffer.from(text),
      receivedAt: now + random(1000) - (random(50) === 0 ? 5000 : 0),
      stream,
      sequence,
      ...(id === '000' ? {} : { agent }),
      ...(random(10) === 0 ? { idempotency: { key: `k${String(random(20))}`, index: 0 } } : {}),
    };
  });
}

type Step = {
  readonly events: readonly ReceivedEvent[];
  readonly milliseconds: number;
  readonly rules: string | undefined;
  /** An agent that is removed. */
  readonly removed: string | undefined;
};

function makeSteps(random: Random): Step[] {
  const sequences = new Map<string, number>();
  let now = START;
  return Array.from({ length: STEPS }, () => {
    const milliseconds = random(6) === 0 ? 11_000 : random(12) === 0 ? 1_500_000 : random(3000);
    const step = {
      milliseconds,
      events: makeEvents(random, sequences, now + milliseconds),
      rules: random(8) === 0 ? makeRules(random, random(4) === 0) : undefined,
      removed: random(6) === 0 ? String(1 + random(AGENTS - 1)).padStart(3, '0') : undefined,
    };
    now += milliseconds;
    return step;
  });
}

async function perform({ events, milliseconds, rules, removed }: Step, running: TestPipeline): Promise<void> {
  const { home, pipeline } = running;
  home.now += milliseconds;
  if (milliseconds > 10_000) {
    // Whether outputs are due for rotation is seen by what is analysed: the same in every run.
    await running.written();
    await pipeline.tick();
  }
  if (rules !== undefined) {
    home.writeRules(rules);
    await running.reload();
  }
  if (removed !== undefined) await pipeline.forgetAgents({ ids: [removed], through: pipeline.removedThrough + 1 });
  await running.take(events);
}

/** Names the first line that differs: whole files are too much to show. */
function expectSameFiles(found: ReadonlyMap<string, string>, expected: ReadonlyMap<string, string>): void {
  expect([...found.keys()].sort()).to.deep.equal([...expected.keys()].sort());
  for (const [path, text] of expected) {
    const [there, wanted] = [(found.get(path) ?? '').split('\n'), text.split('\n')];
    const at = wanted.findIndex((line, index) => line !== there[index]);
    if (at >= 0) {
      expect(`${path}:${String(at + 1)} ${there[at] ?? '(end)'}`).to.equal(
        `${path}:${String(at + 1)} ${wanted[at] ?? ''}`,
      );
    }
    expect(there.length, path).to.equal(wanted.length);
  }
}

describe('threads of the analysis', () => {
  const homes: PipelineHome[] = [];
  const makeHome = (rules: string, threads: number, isCustom = false): PipelineHome => {
    const home = new PipelineHome(START, { rules, decoders: DECODERS, sections: sections(threads, isCustom) });
    homes.push(home);
    home.maxRememberedBytes = LITTLE_MEMORY;
    mkdirSync(home.path('stats/hourly-average'), { recursive: true });
    for (let hour = 0; hour < 24; hour += 1) {
      writeFileSync(home.path('stats/hourly-average', String(hour)), String(AVERAGE));
    }
    writeFileSync(home.path('stats/hourly-average/24'), '5');
    writeFileSync(
      home.path('etc/local_internal_options.conf'),
      'analysisd.stats_mindiff=10\nanalysisd.stats_percent_diff=5\n',
    );
    return home;
  };
  afterEach(() => {
    for (const home of homes.splice(0)) home.remove();
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  async function run(home: PipelineHome, steps: readonly Step[]): Promise<ReadonlyMap<string, string>> {
    const running = await TestPipeline.start(home);
    for (const step of steps) await perform(step, running);
    await running.written();
    await running.pipeline.stop();
    return home.files();
  }

  for (const seed of SEEDS) {
    for (const threads of [2, 3, 8]) {
      it(`give the bytes of one, ${String(threads)} threads, seed ${String(seed)}`, async function () {
        this.timeout(120_000);
        const random = randomOf(seed);
        const rules = makeRules(random, seed % 3 === 0);
        const steps = makeSteps(random);
        const isCustom = seed % 2 === 0;
        const expected = await run(makeHome(rules, 1, isCustom), steps);
        const alerts = [...expected].filter(([path]) => path.endsWith('.json')).flatMap(([, text]) => text.split('\n'));
        expect(alerts.length).to.be.greaterThan(500);
        expect(
          alerts.some((line) => line.includes('The average number of logs')),
          'an alert by number',
        ).to.equal(true);
        const home = makeHome(rules, threads, isCustom);
        expectSameFiles(await run(home, steps), expected);
        expect(home.logger.lines.filter((line) => /^(error|critical)/.test(line))).to.deep.equal([]);
      });
    }

    it(`give the bytes of one when they are killed and their number changes, seed ${String(seed)}`, async function () {
      this.timeout(120_000);
      const random = randomOf(seed);
      const rules = makeRules(random, false);
      const steps = makeSteps(random);
      const expected = await run(makeHome(rules, 1), steps);
      let home = makeHome(rules, 2);
      let running = await TestPipeline.start(home);
      for (const step of steps) {
        const threads = [1, 2, 3, 8][random(4)] ?? 1;
        const choice = random(4);
        const performed = perform(step, running);
        // What people did is done when it is.
        if (choice === 0 && step.rules === undefined && step.removed === undefined) {
          for (let turns = random(60); turns > 0; turns -= 1) await turn();
          const next = makeHome(rules, threads);
          home.copyTo(next);
          next.configure(sections(threads));
          await performed;
          await running.pipeline.stop();
          home = next;
          running = await TestPipeline.start(home);
          await running.take(step.events);
        } else if (choice === 1) {
          await performed;
          await running.pipeline.stop();
          home.configure(sections(threads));
          running = await TestPipeline.start(home);
        } else {
          await performed;
        }
      }
      await running.written();
      await running.pipeline.stop();
      expectSameFiles(home.files(), expected);
    });
  }
});
