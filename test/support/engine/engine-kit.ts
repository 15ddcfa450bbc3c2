import { DEFAULT_STEP_BUDGET, Engine, type EngineHooks, type EngineOptions } from '../../../lib/engine/engine.js';
import { DEFAULT_STATE_OPTIONS, EngineState, type EngineStateOptions } from '../../../lib/engine/engine-state.js';
import type { EngineRuleset } from '../../../lib/engine/load/engine-ruleset.js';
import { loadRuleset, type LoadRulesetOptions } from '../../../lib/engine/load/load-ruleset.js';
import { MitreTable } from '../../../lib/engine/load/mitre-table.js';
import type { EventOutcome } from '../../../lib/engine/outcome.js';
import { readLocation } from '../../../lib/engine/predecode/read-location.js';
import { compilePattern } from '../../../lib/patterns/compile-pattern.js';
import { RecordingDiagnostics } from '../recording-diagnostics.js';

/** Category roots as every ruleset has them. */
export const ROOTS = ['syslog', 'firewall', 'ids', 'web-log', 'squid', 'windows', 'ossec']
  .map(
    (category, i) =>
      `<group name="${category},"><rule id="${String(i + 1)}" level="0" noalert="1">` +
      `<category>${category}</category><description>All ${category}.</description></rule></group>`,
  )
  .join('\n');

/** `app: key=value, key=value` becomes fields; the names of static members fill those. */
export const KEY_VALUE_DECODERS = `
<decoder name="app"><program_name>^app$</program_name></decoder>
${[
  'srcip',
  'dstip',
  'srcport',
  'dstport',
  'srcuser',
  'dstuser',
  'id',
  'url',
  'status',
  'data',
  'extra_data',
  'protocol',
  'action',
  'system_name',
  'app.mode',
  'App.Level',
]
  .map(
    (name) => `<decoder name="app"><parent>app</parent><regex>;${name}=(\\.*);</regex><order>${name}</order></decoder>`,
  )
  .join('\n')}
<decoder name="json"><prematch>^{\\s*"</prematch><plugin_decoder>JSON_Decoder</plugin_decoder></decoder>
<decoder name="fw"><program_name>^fw$</program_name><type>firewall</type></decoder>
<decoder name="fw"><parent>fw</parent><regex>^(\\w+) (\\w+) (\\S+):(\\d+) (\\S+):(\\d+)</regex><order>action, protocol, srcip, srcport, dstip, dstport</order></decoder>
`;

/** Loads a ruleset of one rule file (after the roots) and one decoder file. */
export function loadTestRuleset(
  rules: string,
  options: Partial<LoadRulesetOptions> & {
    readonly decoders?: string;
    readonly lists?: Readonly<Record<string, string>>;
    readonly diagnostics?: RecordingDiagnostics;
  } = {},
): EngineRuleset {
  return loadRuleset(
    {
      decoders: [{ path: 'decoders/test.xml', content: options.decoders ?? KEY_VALUE_DECODERS }],
      rules: [
        { path: 'rules/0000-roots.xml', content: ROOTS },
        { path: 'rules/test.xml', content: rules },
      ],
      lists: Object.entries(options.lists ?? {}).map(([path, content]) => ({ path, content })),
    },
    {
      compilePattern,
      mitre: MitreTable.empty,
      logLevel: 1,
      mailLevel: 7,
      ...options,
      diagnostics: options.diagnostics ?? new RecordingDiagnostics(),
    },
  );
}

export type TestEngineOptions = Partial<EngineOptions> & {
  readonly state?: EngineState;
  readonly stateOptions?: Partial<EngineStateOptions>;
  readonly hooks?: EngineHooks;
};

/** An engine with a clock that the test sets. */
export class TestEngine {
  readonly engine: Engine;
  readonly diagnostics = new RecordingDiagnostics();
  /** Epoch seconds of the next event. */
  now = 1_741_083_330;

  constructor(ruleset: EngineRuleset, { state, stateOptions, hooks, ...options }: TestEngineOptions = {}) {
    this.engine = new Engine({
      ruleset,
      state: state ?? new EngineState(ruleset.rules, { ...DEFAULT_STATE_OPTIONS, ...stateOptions }),
      diagnostics: this.diagnostics,
      options: {
        mode: 'live',
        origin: { managerName: 'mgr1.example.net', cluster: undefined, showHiddenLabels: false },
        logFirewall: true,
        budget: DEFAULT_STEP_BUDGET,
        ...options,
      },
      ...(hooks === undefined ? {} : { hooks }),
    });
  }

  /** Processes a message; agent `004` unless a location is given. */
  send(message: string, location = '[004] (web-02) 10.0.0.24->/var/log/app.log', trace?: string[]): EventOutcome {
    return this.engine.process(
      {
        ...readLocation(location),
        queue: '1',
        message: Buffer.from(message, 'utf8').toString('latin1'),
        receivedAt: this.now * 1000,
      },
      trace,
    );
  }

  /** Sends `app` with these fields; undefined members are left out. Gives the final rule's id. */
  app(fields: Readonly<Record<string, string | undefined>>, text = '', location?: string): number | undefined {
    const pairs = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [`;${name}=${value};`],
    );
    return this.send(`Mar  4 10:15:30 web-02 app: ${text} ${pairs.join('')}`, location).rule?.rule.id;
  }
}

/** Engine on a rule file. */
export function testEngine(
  rules: string,
  options: TestEngineOptions & Parameters<typeof loadTestRuleset>[1] = {},
): TestEngine {
  return new TestEngine(loadTestRuleset(rules, options), options);
}

/** A group `local,` around rules. */
export function group(rules: string, name = 'local,'): string {
  return `<group name="${name}">${rules}</group>`;
}
