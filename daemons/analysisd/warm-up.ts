import { DEFAULT_STEP_BUDGET, Engine } from '../../lib/engine/engine.js';
import { DEFAULT_STATE_OPTIONS, EngineState } from '../../lib/engine/engine-state.js';
import type { Diagnostics } from '../../lib/engine/event.js';
import type { EngineRuleset } from '../../lib/engine/load/engine-ruleset.js';
import { loadRuleset } from '../../lib/engine/load/load-ruleset.js';
import { MitreTable } from '../../lib/engine/load/mitre-table.js';
import { compilePattern } from '../../lib/patterns/compile-pattern.js';
import { MatchContext, type PatternLanguage } from '../../lib/patterns/matcher.js';
import { Pcre2 } from '../../lib/patterns/pcre2/pcre2.js';

/** Bytes of the messages: as long as the longest that sources send. */
const LENGTH = 64_000;
/** Rounds over all messages: after them V8 has compiled what events of any kind run through. */
const ROUNDS = 3;

/** Steps of each pattern in a round. */
const STEPS = 30_000;

/** Patterns with the unit of a subject, so that each instruction of the machines runs, and none finds a match at once. */
const PATTERNS: readonly (readonly [PatternLanguage, string, string])[] = [
  ['pcre2', '(a+)+(b|c)*?\\1(?!z)(?:ab|b.){2,9}no$', 'aab '],
  ['pcre2', '(?>a|ab)+(?=b)\\b(a[^x]*?b|b(?1)c)++(?(1)n|o)no', 'abab no'],
  ['pcre2', '(?:(a|b|c|\\w+?|[ab]*1?)+ )+(?<!x)no$', 'ab1 no'],
  ['pcre2', '((\\w+)\\s?)*!', 'word aab!x'],
  // More groups and marks than the machines have room for at first: they get other memory, and V8 other code.
  ['pcre2', `${'(a)?'.repeat(20)}(?:${'(b)?'.repeat(20)}a)+ !`, 'aab !b'],
  ['osregex', `${'(\\w+)'.repeat(20)}\\d+ no`, 'aab1 n'],
  ['pcre2', '(?:a.*?b[^c]*?c.{0,9}?)+?(?:x|n)o{2,}?', 'aab ab c n'],
  ['pcre2', '(?i)(?<w>a+)b?(?=(c|b)).+?\\b1{1,3}+(?!q)\\s*$!', 'AAb c1 '],
  ['osregex', 'zz(\\w+)\\d+: a\\.*b|a\\w+b\\w+c\\w+d', 'aazzb1c d'],
  ['osregex', '\\w+b\\w*c(\\d+)\\s no', 'aabc1 '],
  ['osregex', 'a\\.+b\\s*zz|^\\S+ (\\w+)x', 'ab c'],
  ['osregex', '\\.*a\\w*a\\w*ab', 'aa c'],
  ['osmatch', 'never|absent$|nowhere', 'nevea nab'],
];

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

/** Has V8 compile the patterns of a ruleset that comes into force, which takes up to some milliseconds for one. */
export function prepareRuleset(ruleset: EngineRuleset): void {
  for (const matcher of ruleset.matchers()) if (matcher instanceof Pcre2) matcher.prepare();
}

/**
 * Runs long messages of each kind through an engine of its own, so that V8 has compiled the code of decoding, rules and alerts
 * when the first event comes: without it one of 64 KB took up to three times as long, in the first moments of a thread. Costs
 * some 0.3 s of CPU.
 *
 * @returns how many alerts were written
 */
export function warmUp(): number {
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
  const engine = new Engine({
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
  const context = new MatchContext();
  const matchers = PATTERNS.map(
    ([language, source, subject]) => [compilePattern(language, source), repeated(subject)] as const,
  );
  let alerts = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [matcher, subject] of matchers) {
      // Also what they do without steps is compiled.
      for (const steps of [STEPS, STEPS >> 4, 1]) {
        context.stepsLeft = steps;
        context.exhausted = false;
        matcher.exec(subject, context);
      }
    }
    for (const { queue, message } of MESSAGES) {
      const outcome = engine.process({
        queue,
        location: '(warm-up) any->warm-up',
        agent: { id: '001', name: 'warm-up' },
        message,
        receivedAt: round,
      });
      if (!outcome.isAlert) continue;
      alerts += 1;
      engine.alertText(outcome.alert, '0.0');
      engine.jsonLine(outcome.alert, '0.0');
      engine.jsonLine(outcome.alert, '0.0', { alwaysFullLog: true });
    }
  }
  return alerts;
}

const MESSAGES: readonly { readonly queue: string; readonly message: string }[] = [
  { queue: '1', message: repeated('ab ba b1 no c') },
  { queue: '1', message: repeated('a') },
  { queue: '1', message: repeated('\x01\xff"\\') },
  { queue: '1', message: `Mar  4 10:15:30 host warm: go http://x xxx ${repeated('aab c1 ')}` },
  { queue: '1', message: `{"a":[${repeated('1.5,"x\\n",9e307,')}1],"b":1}` },
  { queue: '1', message: `{${members(3000)}}` },
  { queue: '1', message: `{"s":"${repeated('a\\u00e9\\n ')}"}` },
  { queue: '8', message: fileEvent() },
  {
    queue: 'f',
    message: JSON.stringify({
      Message: 'm',
      Event: `<E><System><EventID>7</EventID></System><EventData>${repeated('<Data Name="a">b</Data>')}</EventData></E>`,
    }),
  },
];

function repeated(unit: string): string {
  return unit.repeat(Math.floor(LENGTH / unit.length));
}

function members(count: number): string {
  return Array.from({ length: count }, (_, i) => `"f${String(i)}.text":${i % 2 === 0 ? '"x"' : '1.25'}`).join(',');
}

function fileEvent(): string {
  const attributes = { type: 'file', size: 1, perm: 'rw-r--r--', hash_md5: 'x' };
  const data = { path: '/a', version: 2, mode: 'realtime', type: 'modified', timestamp: 1, attributes };
  return JSON.stringify({
    type: 'event',
    data: { ...data, old_attributes: { ...attributes, size: 2 }, content_changes: repeated('< a\n') },
  });
}

const SILENT: Diagnostics = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
