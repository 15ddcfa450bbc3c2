import { setImmediate as nextTurn } from 'node:timers/promises';
import { DEFAULT_STEP_BUDGET, Engine } from '../../lib/engine/engine.js';
import { DEFAULT_STATE_OPTIONS, EngineState } from '../../lib/engine/engine-state.js';
import type { Diagnostics } from '../../lib/engine/event.js';
import type { EngineRuleset } from '../../lib/engine/load/engine-ruleset.js';
import { loadRuleset } from '../../lib/engine/load/load-ruleset.js';
import { MitreTable } from '../../lib/engine/load/mitre-table.js';
import { compilePattern } from '../../lib/patterns/compile-pattern.js';
import { MatchContext, type Matcher } from '../../lib/patterns/matcher.js';
import { OsRegex } from '../../lib/patterns/os-regex.js';
import { Pcre2 } from '../../lib/patterns/pcre2/pcre2.js';
import {
  longMatches,
  longMessages,
  shortMatches,
  shortMessages,
  type WarmUpMatch,
  type WarmUpMessage,
} from './warm-up-inputs.js';

/** Rounds over all long messages: after them V8 has compiled what events of any kind run through. */
const ROUNDS = 3;

/** Milliseconds after which others have their turn. */
const TURN_MS = 10;
/** Steps of each pattern in a round. */
const STEPS = 30_000;
/** Steps of a short match: it runs out of the fewer ones. */
const SHORT_STEPS = [3000, 2] as const;

const DECODERS = `
<decoder name="json"><prematch>^{</prematch><plugin_decoder>JSON_Decoder</plugin_decoder></decoder>
<decoder name="warm"><program_name>^warm$</program_name></decoder>
<decoder name="warm"><parent>warm</parent><regex>^(\\w+) (\\S+)</regex><order>action, url</order></decoder>
<decoder name="warm"><parent>warm</parent><regex type="pcre2" offset="after_regex">(x+) (.*)</regex><order>data, f.text</order></decoder>
<decoder name="warm"><parent>warm</parent><regex offset="after_regex">(\\.+)</regex><order>extra_data</order></decoder>
`;

const RULES = `
<group name="warm,">
<rule id="1" level="0" noalert="1"><category>syslog</category><description>all</description></rule>
<rule id="2" level="0" noalert="1"><category>ossec</category><description>all</description></rule>
<rule id="10" level="3"><if_sid>1</if_sid><match>never|^nowhere|absent$</match><description>a</description></rule>
<rule id="11" level="3"><if_sid>1</if_sid><regex>\\w+b\\w+c\\d+ no|a\\.*b\\s+zz</regex><description>b</description></rule>
<rule id="14" level="3"><if_sid>1</if_sid><field name="f.text" type="pcre2">no$</field><description>e</description></rule>
<rule id="15" level="5"><if_sid>1</if_sid><description>$(f.text) $(url)</description></rule>
<rule id="16" level="5"><if_sid>2</if_sid><description>$(file)</description></rule>
</group>
`;

/** Makes what else the first events of a ruleset that comes into force would wait for, some milliseconds for a pattern or a decoder. */
export function prepareRuleset(ruleset: EngineRuleset): void {
  ruleset.rootIndex.prepare();
  for (const matcher of ruleset.matchers()) {
    if (matcher instanceof Pcre2 || matcher instanceof OsRegex) matcher.prepare();
  }
}

/**
 * Whether a process is to warm up at all: with `SVC_WARM_UP=no` it does not, as the tests of this product want it, which start
 * hundreds of them for a few events each.
 */
export function isWarmUpWanted(): boolean {
  return process.env['SVC_WARM_UP'] !== 'no';
}

/**
 * Runs messages of each kind through an engine of its own, so that V8 has compiled the code of decoding, rules and alerts
 * when the first event comes: without it one of 64 KB took up to three times as long, in the first moments of a thread. Costs
 * some 0.5 s of CPU.
 *
 * @returns how many alerts were written
 */
export function warmUp(): number {
  const run = new WarmUpRun();
  const work = run.work();
  while (work.next().done !== true);
  return run.alerts;
}

/** The same a little at a time, so that requests are answered meanwhile; what comes first takes a tenth of a second. */
export async function warmUpInTurns(): Promise<number> {
  const run = new WarmUpRun();
  let turnAt = performance.now();
  for (const work = run.work(); work.next().done !== true;) {
    if (performance.now() - turnAt < TURN_MS) continue;
    await nextTurn();
    turnAt = performance.now();
  }
  return run.alerts;
}

class WarmUpRun {
  alerts = 0;
  readonly #engine = warmUpEngine();
  readonly #context = new MatchContext();
  readonly #matchers = new Map<string, Matcher>();
  #receivedAt = 0;

  /** Does one thing after the other. */
  *work(): Generator<undefined, void> {
    // First everything is done once: what V8 compiles later knows all of it, and is not given up at what comes anew.
    for (const match of shortMatches()) yield this.#match(match, SHORT_STEPS);
    for (const message of shortMessages()) yield this.#event(message);
    const matches = longMatches();
    const messages = longMessages();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const match of matches) yield this.#match(match, [STEPS, STEPS >> 4, 1]);
      for (const message of messages) yield this.#event(message);
    }
  }

  #match([language, source, subject]: WarmUpMatch, budgets: readonly number[]): undefined {
    const context = this.#context;
    const key = `${language} ${source}`;
    let matcher = this.#matchers.get(key);
    if (matcher === undefined) this.#matchers.set(key, (matcher = compilePattern(language, source)));
    for (const steps of budgets) {
      context.stepsLeft = steps;
      context.exhausted = false;
      matcher.exec(subject, context);
    }
  }

  #event({ queue, message }: WarmUpMessage): undefined {
    const engine = this.#engine;
    this.#receivedAt += 1;
    const outcome = engine.process({
      queue,
      location: '(warm-up) any->warm-up',
      agent: { id: '001', name: 'warm-up' },
      message,
      receivedAt: this.#receivedAt,
    });
    if (!outcome.isAlert) return;
    this.alerts += 1;
    engine.alertText(outcome.alert, '0.0');
    engine.jsonLine(outcome.alert, '0.0');
    engine.jsonLine(outcome.alert, '0.0', { alwaysFullLog: true });
  }
}

function warmUpEngine(): Engine {
  const sources = {
    decoders: [{ path: 'warm-up', content: DECODERS }],
    rules: [{ path: 'warm-up', content: RULES }],
    lists: [],
  };
  const ruleset = loadRuleset(sources, {
    diagnostics: SILENT,
    compilePattern,
    mitre: MitreTable.empty,
    logLevel: 1,
    mailLevel: 16,
  });
  return new Engine({
    ruleset,
    state: new EngineState(ruleset.rules, { ...DEFAULT_STATE_OPTIONS, maxRememberedBytes: 1 << 20 }),
    diagnostics: SILENT,
    options: {
      mode: 'live',
      origin: { managerName: 'warm-up', cluster: undefined, showHiddenLabels: false },
      logFirewall: false,
      budget: DEFAULT_STEP_BUDGET,
    },
  });
}

const SILENT: Diagnostics = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
