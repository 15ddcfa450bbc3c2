import type { XmlElement } from '../../../xml/xml-element.js';
import type { Diagnostics, SourcePlace } from '../../event.js';
import { failLoad } from '../fail-load.js';

/** What rules are read against. */
export type RuleParseContext = {
  readonly diagnostics: Diagnostics;
  /** Seconds a composite rule without `timeframe` looks back (`analysisd.default_timeframe`). */
  readonly defaultTimeframe: number;
  /** Level from which an alert is mailed (`email_alert_level`). */
  readonly mailLevel: number;
  /** Level from which an alert is written (`log_alert_level`). */
  readonly logLevel: number;
  /** Most `<field>` elements of a rule (`analysisd.decoder_order_size`). */
  readonly maxFields: number;
  knowsDecoder(name: string): boolean;
  /** Whether `<list>` may name this path: a configured text path, with or without `.cdb`. */
  knowsList(path: string): boolean;
};

/** Says what is wrong with one rule while it is read, and whether the rule must be left out for it. */
export class RuleReport {
  /** The rule itself, where no element of it is meant. */
  readonly rulePlace: SourcePlace;
  /** Id of the rule, as messages write it. */
  readonly ruleId: string;
  readonly context: RuleParseContext;
  #leftOut = false;

  constructor(file: string, line: number, ruleId: number, context: RuleParseContext) {
    this.rulePlace = { file, line, ruleId };
    this.ruleId = String(ruleId);
    this.context = context;
  }

  /** A reason to leave out this rule was reported; the others are loaded. */
  get isLeftOut(): boolean {
    return this.#leftOut;
  }

  place(element: XmlElement): SourcePlace {
    return { ...this.rulePlace, line: element.line };
  }

  warn(element: XmlElement, text: string): void {
    this.context.diagnostics.warn(text, this.place(element));
  }

  error(element: XmlElement, text: string): void {
    this.context.diagnostics.error(text, this.place(element));
  }

  warnOfRule(text: string): void {
    this.context.diagnostics.warn(text, this.rulePlace);
  }

  /** Leaves out this rule; the reason is a warning. */
  drop(element: XmlElement, text: string, more: Pick<SourcePlace, 'list'> = {}): void {
    this.#leftOut = true;
    this.context.diagnostics.warn(text, { ...this.place(element), ...more });
  }

  /** Leaves out this rule; the reason is an error. */
  dropWithError(element: XmlElement, text: string): void {
    this.#leftOut = true;
    this.error(element, text);
  }

  /** Ends the load. @throws RulesetError always, with the last text */
  fail(element: XmlElement, ...texts: readonly [string, ...string[]]): never {
    failLoad(this.context.diagnostics, this.place(element), ...texts);
  }

  /** Ends the load for something that no single element shows. @throws RulesetError always */
  failRule(text: string): never {
    failLoad(this.context.diagnostics, this.rulePlace, text);
  }

  /** Ends the load for an element that a rule cannot have. @throws RulesetError always */
  failOption(element: XmlElement, ...before: readonly string[]): never {
    const text = `Invalid option '${element.name}' for rule '${this.ruleId}'.`;
    const [first, ...rest] = [...before, text];
    this.fail(element, first ?? text, ...rest);
  }
}
