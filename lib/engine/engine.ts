import type { Alert, AlertOrigin } from './alert/alert.js';
import { AlertJson, type AlertJsonOptions } from './alert/alert-json.js';
import type { AlertRecord } from './alert/alert-record.js';
import { AlertText, isCompleteFirewallEvent } from './alert/alert-text.js';
import { EventData } from './alert/event-data.js';
import { RuleJson } from './alert/rule-json.js';
import { EventDecoder } from './decode/event-decoder.js';
import type { RequestScaDump } from './decode/internal/internal-decoder.js';
import { InternalDecoders } from './decode/internal/internal-decoders.js';
import type { DecodingTools } from './decode/interpret-decoders.js';
import { makePlugins } from './decode/plugins/plugins.js';
import type { EngineMemory } from './engine-memory.js';
import type { EngineState } from './engine-state.js';
import { type Diagnostics, EngineEvent, type IncomingEvent } from './event.js';
import type { HourReport } from './event-counting.js';
import type { Explainer } from './explain/explainer.js';
import type { EngineRuleset } from './load/engine-ruleset.js';
import { MitreTable } from './load/mitre-table.js';
import { LocalClock } from './local-clock.js';
import type { EventOutcome } from './outcome.js';
import { predecode } from './predecode/predecode.js';
import { isUnreadable } from './predecode/read-location.js';
import { type MatchMode, matchRules, type RuleMatch } from './rules/match-rules.js';
import { RuleRun, type RuleRunHooks, type StepBudget } from './rules/rule-run.js';
import type { CompiledRule } from './rules/ruleset.js';
import { statisticsRule } from './rules/statistics-rule.js';

/** What the engine tells its owner beside the outcome of events. */
export interface EngineHooks extends RuleRunHooks {
  /** An hour ended; the counters start anew. */
  hourEnded?(report: HourReport): void;
  /** The results of a policy that an agent summed up are not those that it told. */
  readonly requestScaDump?: RequestScaDump;
}

export type EngineOptions = {
  readonly mode: MatchMode;
  readonly origin: AlertOrigin;
  /** `analysisd.log_fw`: incomplete firewall events are discarded, complete ones copied to the firewall log. */
  readonly logFirewall: boolean;
  readonly budget: StepBudget;
};

/** Bytes of a bad message that an error shows. */
const MAX_SHOWN = 256;

/**
 * Steps that patterns and searches of an event may take, and one match. A step takes some 15 ns; what an event takes beside, its
 * alert with 64 KB of escapes among it, is some milliseconds, so that the whole stays within 20 ms. Steps and not time, so that
 * a replay gives the same result.
 */
export const DEFAULT_STEP_BUDGET: StepBudget = { event: 160_000, match: 64_000 };

export type EngineParts<M extends EngineMemory = EngineState> = {
  readonly ruleset: EngineRuleset;
  readonly state: M;
  readonly options: EngineOptions;
  readonly diagnostics: Diagnostics;
  readonly hooks?: EngineHooks;
};

/**
 * The analysis of events: decoding, rules, and the texts of alerts. Deterministic: the same events with the same receive
 * times on the same state give the same outcomes. Many engines can share one ruleset; each has a state of its own.
 */
export class Engine<M extends EngineMemory = EngineState> {
  readonly ruleset: EngineRuleset;
  readonly state: M;
  /** The manager's name up to its first dot: host of events that name none. */
  readonly hostName: string;
  readonly #options: EngineOptions;
  readonly #diagnostics: Diagnostics;
  readonly #hooks: EngineHooks;
  readonly #clock = new LocalClock();
  readonly #run: RuleRun;
  readonly #tools: DecodingTools;
  readonly #decoder: EventDecoder;
  readonly #internal: InternalDecoders;
  readonly #json: AlertJson;
  readonly #text: AlertText;
  readonly #statisticsRule: CompiledRule;
  readonly #statisticsJson: RuleJson;
  #failures = 0;

  constructor(parts: EngineParts<M>) {
    const { ruleset, state, options, diagnostics } = parts;
    this.ruleset = ruleset;
    this.state = state;
    this.#options = options;
    this.#diagnostics = diagnostics;
    this.#hooks = parts.hooks ?? {};
    this.#run = new RuleRun(state, options.budget, this.#clock, diagnostics, this.#hooks);
    this.hostName = shortName(options.origin.managerName);
    const plugins = makePlugins({
      orderSize: ruleset.decoders.orderSize,
      compilePattern: ruleset.compilePattern,
      ruleExists: (id) => ruleset.rules.byId.has(id),
      diagnostics,
    });
    this.#tools = { context: this.#run.context, plugins, diagnostics };
    this.#decoder = new EventDecoder(ruleset.decoders, this.#tools, ruleset.rootIndex);
    this.#internal = new InternalDecoders({
      set: ruleset.decoders,
      json: plugins.JSON_Decoder,
      memory: state.agents,
      requestScaDump: (...request) => this.#hooks.requestScaDump?.(...request),
      diagnostics,
    });
    const data = new EventData();
    this.#json = new AlertJson(options.origin, this.#clock, data);
    this.#text = new AlertText(options.origin, this.#clock, data);
    this.#statisticsRule = statisticsRule(state.statisticsLevel, ruleset.mailLevel, ruleset.logLevel);
    this.#statisticsJson = new RuleJson(this.#statisticsRule, MitreTable.empty);
  }

  /** Steps that the last event took, see `DEFAULT_STEP_BUDGET`. */
  get steps(): number {
    return this.#run.steps;
  }

  /** How many events the engine itself failed on; each was reported as an error. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * Processes one event. Never throws, whatever the event holds.
   * @param trace collects the attempts of rules, when given (rules-and-alerts.md 4.3)
   * @param explainer watches every step, when given; the outcome and the state are the same
   */
  process(incoming: IncomingEvent, trace?: string[], explainer?: Explainer): EventOutcome {
    const event = new EngineEvent(incoming);
    try {
      return this.#process(event, trace, explainer);
    } catch (error) {
      // A defect of ours; one event must not take the others down with it.
      this.#failures += 1;
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#diagnostics.error(`Event from '${event.location}' could not be analysed: ${reason}`);
      return nothing(event, 'dropped');
    }
  }

  /** Pre-decoding and decoding alone, for tools; undefined when the event cannot be used at all. */
  decode(incoming: IncomingEvent): EngineEvent | undefined {
    const event = new EngineEvent(incoming);
    this.#run.begin(Math.floor(event.receivedAt / 1000), undefined);
    return this.#decode(event, undefined) === undefined ? event : undefined;
  }

  /** The statistics alert that an event sets off. @param text what it says */
  statisticsAlert(event: EngineEvent, text: string): Alert {
    return {
      event,
      rule: this.#statisticsRule,
      description: undefined,
      firedTimes: undefined,
      previousEvents: [],
      previousLog: undefined,
      fullLog: text,
    };
  }

  /** The JSON form of an alert or archived event: a byte string of valid UTF-8 without a line end. */
  alertJson(alert: Alert, options: AlertJsonOptions & { readonly id: string }): string {
    return this.renderJson(alert, options).complete(options.id, alert.firedTimes);
  }

  /** The same with its line end. */
  jsonLine(alert: Alert, id: string, options?: AlertJsonOptions): string {
    const record = this.renderJson(alert, options);
    record.add('\n');
    return record.complete(id, alert.firedTimes);
  }

  /** The text form of an alert: a byte string that ends with an empty line. */
  alertText(alert: Alert, id: string): string {
    return this.#text.render(alert).complete(id, undefined);
  }

  /** The same as `alertJson`, for whoever does not know yet which id the alert gets and how often its rule has fired. */
  renderJson(alert: Alert, options: AlertJsonOptions = {}): AlertRecord {
    return this.#json.render(alert, this.#ruleJson(alert.rule), options);
  }

  /** The same as `alertText`, without the id. */
  renderText(alert: Alert): AlertRecord {
    return this.#text.render(alert);
  }

  /** The other text forms (rules-and-alerts.md 7.7). */
  get texts(): AlertText {
    return this.#text;
  }

  /** Time stamps and calendar as alerts show them. */
  get clock(): LocalClock {
    return this.#clock;
  }

  /** What the ATT&CK table did not know of a rule. */
  mitreWarnings(rule: CompiledRule): readonly string[] {
    return this.#ruleJson(rule)?.mitreWarnings ?? [];
  }

  #process(event: EngineEvent, trace: string[] | undefined, explainer: Explainer | undefined): EventOutcome {
    const { mode, logFirewall } = this.#options;
    const { state } = this;
    const now = Math.floor(event.receivedAt / 1000);
    const run = this.#run;
    run.begin(now, trace);
    const live = mode === 'live';
    const ended = live ? state.counting.begin(event) : undefined;
    if (ended !== undefined) this.#hooks.hourEnded?.(ended);
    const failure = this.#decode(event, explainer);
    if (failure !== undefined) return nothing(event, failure);
    state.accumulate(event, now);
    let firewall = false;
    if (live && event.category === 'firewall') {
      state.counting.firewall();
      if (logFirewall) {
        if (!isCompleteFirewallEvent(event)) return nothing(event, 'discarded');
        firewall = true;
      }
    }
    const told = live ? state.counting.statistics() : undefined;
    const statistics = told === undefined ? undefined : this.statisticsAlert(event, told);
    if (event.category === 'ossec-alert' && event.generatedRule === undefined) return nothing(event, 'discarded');
    const match = matchRules(
      this.ruleset.rules,
      event,
      run,
      mode,
      explainer && ((...tree) => explainer.evaluate(...tree)),
    );
    return {
      disposition: 'processed',
      event,
      rule: match?.rule,
      alert: this.#alert(event, match),
      isAlert: match !== undefined && this.#isAlert(match),
      responds: match !== undefined && !match.suppressed && match.rule.rule.level > 0,
      firewall,
      statistics,
    };
  }

  /** Pre-decoding and decoding within the event's budget; says why the event goes no further, where it does not. */
  #decode(event: EngineEvent, explainer: Explainer | undefined): 'dropped' | 'discarded' | undefined {
    if (isUnreadable(event)) {
      this.#diagnostics.error('(1106): String not correctly formatted.');
      this.#diagnostics.error(`(1222): Invalid msg: ${event.location.slice(0, MAX_SHOWN)}`);
      return 'dropped';
    }
    predecode(event, this.hostName);
    explainer?.predecoded(event);
    const internal = this.#internal.decode(event);
    if (internal !== undefined) return internal === 'rules' ? undefined : 'discarded';
    this.#run.beginDecoding();
    if (explainer === undefined) this.#decoder.decode(event);
    else explainer.decode(this.ruleset.decoders, event, this.#tools);
    this.#run.endDecoding(event, this.#decoder.costly);
    return undefined;
  }

  #isAlert({ rule: { rule }, suppressed }: RuleMatch): boolean {
    if (suppressed || rule.level === 0) return false;
    return this.#options.mode === 'live' ? rule.log : rule.level >= this.ruleset.logLevel;
  }

  #alert(event: EngineEvent, match: RuleMatch | undefined): Alert {
    const run = this.#run;
    return {
      event,
      rule: match?.rule,
      description: match?.rule.description.expand(event),
      firedTimes: match?.firedTimes,
      previousEvents: run.previousEvents,
      previousLog: run.previousLog,
      fullLog: event.fullLog,
    };
  }

  #ruleJson(rule: CompiledRule | undefined): RuleJson | undefined {
    if (rule === undefined) return undefined;
    return rule === this.#statisticsRule ? this.#statisticsJson : this.ruleset.ruleJson.of(rule);
  }
}

function nothing(event: EngineEvent, disposition: EventOutcome['disposition']): EventOutcome {
  return {
    disposition,
    event,
    rule: undefined,
    alert: {
      event,
      rule: undefined,
      description: undefined,
      firedTimes: undefined,
      previousEvents: [],
      previousLog: undefined,
      fullLog: event.fullLog,
    },
    isAlert: false,
    responds: false,
    firewall: false,
    statistics: undefined,
  };
}

/** Host name up to its first dot. */
function shortName(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? name : name.slice(0, dot);
}
