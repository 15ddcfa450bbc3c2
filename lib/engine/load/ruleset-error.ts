import type { SourcePlace } from '../event.js';

/**
 * A ruleset that cannot be loaded: "fatal" of rules-and-alerts.md 1.3 and decoding.md 4.1. Whoever throws it has reported
 * every text of the failure through `Diagnostics.error` before, in the reference's order; this is the last of them.
 */
export class RulesetError extends Error {
  override readonly name = 'RulesetError';
  /** The text alone, as the specs word it. */
  readonly text: string;
  readonly place: SourcePlace;

  /** `message` becomes the text with its place, fit to be shown to a person. */
  constructor(text: string, place: SourcePlace) {
    super(`${text} (${describePlace(place)})`);
    this.text = text;
    this.place = place;
  }
}

/** `file:line, rule id, decoder name, pattern: reason at offset` with the parts that are known. */
export function describePlace(place: SourcePlace): string {
  const line = place.line > 0 ? `:${String(place.line)}` : '';
  const rule = place.ruleId === undefined ? '' : `, rule ${String(place.ruleId)}`;
  const decoder = place.decoder === undefined ? '' : `, decoder '${place.decoder}'`;
  const pattern = place.pattern === undefined ? '' : `, pattern: ${place.pattern}`;
  return `${place.file}${line}${rule}${decoder}${pattern}`;
}

/** The place of a pattern that does not compile: the texts of the specs do not say where in it, nor why. */
export function placeOfPattern(place: SourcePlace, error: Error): SourcePlace {
  const offset = 'offset' in error && typeof error.offset === 'number' ? ` at offset ${String(error.offset)}` : '';
  return { ...place, pattern: `${error.message.replace(/\.$/, '')}${offset}` };
}
