import { prepareRuleset } from '../../../../daemons/analysisd/warm-up.js';
import { DEFAULT_STEP_BUDGET, Engine } from '../../../../lib/engine/engine.js';
import { EngineState } from '../../../../lib/engine/engine-state.js';
import type { IncomingEvent } from '../../../../lib/engine/event.js';
import { loadRuleset } from '../../../../lib/engine/load/load-ruleset.js';
import { MitreTable } from '../../../../lib/engine/load/mitre-table.js';
import { RulesetError } from '../../../../lib/engine/load/ruleset-error.js';
import { compilePattern } from '../../../../lib/patterns/compile-pattern.js';
import { RecordingDiagnostics } from '../../recording-diagnostics.js';
import type { HostileCase } from './hostile-case.js';

/** What became of an event. */
export type HostileOutcome = {
  readonly ruleId: number | undefined;
  readonly writtenBytes: number;
  readonly steps: number;
};

/** An engine with the ruleset of a case, that takes its messages whole: decoding, rules, and everything that is written. */
export class HostileRun {
  readonly engine: Engine;
  readonly #case: HostileCase;
  readonly #diagnostics: RecordingDiagnostics;
  /** Where records go: what comes before the file system takes part in what is measured. */
  readonly #memory = Buffer.alloc(1 << 24);

  private constructor(hostile: HostileCase, engine: Engine, diagnostics: RecordingDiagnostics) {
    this.#case = hostile;
    this.engine = engine;
    this.#diagnostics = diagnostics;
  }

  /** Undefined for a ruleset that is refused. */
  static load(hostile: HostileCase): HostileRun | undefined {
    const diagnostics = new RecordingDiagnostics();
    try {
      const options = {
        diagnostics,
        compilePattern,
        mitre: MitreTable.empty,
        logLevel: 1,
        mailLevel: 7,
        orderSize: 1024,
      };
      const ruleset = loadRuleset(hostile.sources, options);
      prepareRuleset(ruleset);
      const origin = { managerName: 'mgr1.example.net', cluster: undefined, showHiddenLabels: false };
      const engine = new Engine({
        ruleset,
        state: new EngineState(ruleset.rules),
        diagnostics,
        options: { mode: 'live', origin, logFirewall: true, budget: DEFAULT_STEP_BUDGET },
      });
      return new HostileRun(hostile, engine, diagnostics);
    } catch (error) {
      if (error instanceof RulesetError) return undefined;
      throw error;
    }
  }

  /** What the engine failed with, as it says it. */
  get failures(): readonly string[] {
    return this.#diagnostics.lines.filter((line) => line.includes('could not be analysed'));
  }

  /** Takes the message at an index, with a text and a JSON alert and a text and a JSON archive. */
  take(index: number): HostileOutcome {
    const { engine } = this;
    const outcome = engine.process(this.#incoming(index));
    if (outcome.disposition !== 'processed') return { ruleId: undefined, writtenBytes: 0, steps: engine.steps };
    const { alert, event } = outcome;
    const writtenBytes =
      this.#write(engine.alertText(alert, '1741083330.1')) +
      this.#write(engine.jsonLine(alert, '1741083330.1')) +
      this.#write(engine.texts.archive(event) ?? '') +
      this.#write(engine.jsonLine(alert, '1741083330.1', { alwaysFullLog: true }));
    return { ruleId: outcome.rule?.rule.id, writtenBytes, steps: engine.steps };
  }

  #incoming(index: number): IncomingEvent {
    const line = this.#case.lines[index];
    return {
      queue: line?.queue ?? '1',
      location: '(web-02) 10.0.0.24->/var/log/app.log',
      agent: { id: '004', name: 'web-02' },
      message: line?.message ?? '',
      receivedAt: 1_741_083_330_000 + 10 * index,
    };
  }

  #write(record: string): number {
    this.#memory.write(record, 0, 'latin1');
    return record.length;
  }
}
