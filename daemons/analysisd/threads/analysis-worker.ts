import { Engine } from '../../../lib/engine/engine.js';
import type { Diagnostics } from '../../../lib/engine/event.js';
import { compileRuleset } from '../../../lib/ruleset/read-ruleset.js';
import { Counters } from '../counters.js';
import { EventDiagnostics } from '../engine-diagnostics.js';
import { engineOptionsOf, type InForce, respondingIn } from '../in-force.js';
import { EventJudge } from '../pipeline/event-judge.js';
import { Responses } from '../responses/responses.js';
import { isWarmUpWanted, prepareRuleset, warmUp } from '../warm-up.js';
import type { ResultMemory } from './result-memory.js';
import { ResultWriter } from './results.js';
import { ThreadLogger } from './thread-logger.js';
import { type Shared, ThreadMemory } from './thread-memory.js';
import { ThreadOutputs } from './thread-outputs.js';
import type { Answers, Notice, Question, ThreadConfiguration, ThreadOrder, ThreadWord } from './thread-words.js';
import { Unit } from './units.js';

/** What was said of the ruleset was said when the daemon loaded it. */
const QUIET: Diagnostics = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** What joins a worker with the daemon. */
export interface WorkerLink {
  say(word: ThreadWord): void;
  /** Sleeps until the question that was said last is answered. */
  waitForAnswer(): unknown;
  /** Memory for results, in a slot if one is free. */
  takeSlot(): ResultMemory;
  /** Whether keys that were seen stay known. */
  keepsKeys(): boolean;
}

type Parts = { readonly engine: Engine<ThreadMemory>; readonly responses: Responses; readonly inForce: InForce };

/**
 * Analyses the events of some agents, in the order of the journal. What belongs to all agents it asks for, see `ThreadMemory`;
 * what it makes of an event is a result in which the place among all alerts is left open.
 */
export class AnalysisWorker implements Shared, Parts {
  readonly #number: number;
  readonly #link: WorkerLink;
  readonly #results = new ResultWriter();
  readonly #counters = new Counters(0);
  readonly #diagnostics: EventDiagnostics;
  readonly #judge: EventJudge;
  #parts: Parts | undefined;

  /** @param number of the thread, from 0 */
  constructor(number: number, link: WorkerLink) {
    this.#number = number;
    this.#link = link;
    const logger = new ThreadLogger((level, text) => {
      link.say({ kind: 'log', level, text });
    });
    this.#diagnostics = new EventDiagnostics(logger);
    this.#judge = new EventJudge(this, new ThreadOutputs(this.#results, this), this.#counters, logger);
  }

  get engine(): Engine<ThreadMemory> {
    return this.#configured.engine;
  }

  get responses(): Responses {
    return this.#configured.responses;
  }

  get inForce(): InForce {
    return this.#configured.inForce;
  }

  get keepsKeys(): boolean {
    return this.#link.keepsKeys();
  }

  ask<K extends Question['kind']>(question: Extract<Question, { readonly kind: K }>): Answers[K] {
    this.#handOn();
    this.#link.say({ kind: 'question', question });
    return this.#link.waitForAnswer() as Answers[K];
  }

  tell(notice: Notice): void {
    this.#handOn();
    this.#link.say({ kind: 'notice', notice });
  }

  /** Does what the daemon wants, before this returns. */
  obey(order: ThreadOrder): void {
    switch (order.kind) {
      case 'configure':
        this.#configure(order);
        return;
      case 'restore':
        this.engine.state.correlation.restore(order.correlation);
        return;
      case 'forget-agent':
        this.engine.state.correlation.of(order.id).forgetAgent(order.id);
        this.#link.say({ kind: 'forgotten' });
        return;
      case 'unit':
        this.#analyse(order.unit);
        return;
      case 'capture':
        this.#capture();
    }
  }

  get #configured(): Parts {
    if (this.#parts === undefined) throw new Error('The thread has no configuration yet.');
    return this.#parts;
  }

  #configure(configuration: ThreadConfiguration): void {
    const { inForce, sources, loading } = configuration;
    if (this.#parts === undefined && isWarmUpWanted()) warmUp();
    const ruleset = compileRuleset(sources, loading, QUIET);
    prepareRuleset(ruleset);
    const diagnostics = this.#diagnostics;
    this.#parts = {
      inForce,
      engine: new Engine({
        ruleset,
        state: new ThreadMemory(ruleset.rules, configuration, this.#results, this),
        options: engineOptionsOf(inForce),
        diagnostics,
        hooks: {
          ignored: (key) => {
            this.tell({ kind: 'ignored-key', key });
          },
          requestScaDump: (agentId, policyId, first) => {
            this.tell({ kind: 'sca-dump', agentId, policyId, first });
          },
        },
      }),
      responses: new Responses(ruleset.rules.rules, respondingIn(inForce), diagnostics),
    };
    this.#link.say({ kind: 'configured' });
  }

  #analyse(unit: SharedArrayBuffer): void {
    const results = this.#results;
    const { engine } = this;
    const failures = engine.failures;
    for (const event of new Unit(unit).eventsOf(this.#number)) {
      results.open();
      this.#judge.judge(event);
      results.close();
      if (results.isFull) this.#handOn();
    }
    this.#counters.eventsFailed += engine.failures - failures;
    this.#handOn();
    this.#diagnostics.flush();
  }

  /** Hands on the results of the events that are done. */
  #handOn(): void {
    const events = this.#results.count;
    if (events === 0) return;
    const memory = this.#results.take(this.#link.takeSlot());
    const { slot, count, bytes, own } = memory;
    const chunk = { events, slot, filled: { count, bytes }, own, counted: this.#counters.takeDelta() };
    this.#link.say({ kind: 'results', chunk });
  }

  #capture(): void {
    const { events, ...layout } = this.engine.state.correlation.capture();
    const pieces = Array.from({ length: events.parts }, (_, part) => events.encode(part));
    const part = { layout, events: pieces, count: events.count };
    this.#link.say({ kind: 'captured', part });
  }
}
