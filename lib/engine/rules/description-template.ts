import { asciiLowerCase } from '../ascii-case.js';
import type { EngineEvent } from '../event.js';
import { findField } from '../event-field.js';

/** Template and result are bounded (rules-and-alerts.md 4.4). */
const MAX_TEXT = 1024;

type TemplatePart = string | { readonly name: string; readonly key: string };

/** A rule's description with its `$(name)` placeholders. */
export class DescriptionTemplate {
  /** As the rule writes it. */
  readonly source: string;
  readonly #parts: readonly TemplatePart[];

  constructor(source: string) {
    this.source = source;
    this.#parts = source.includes('$(') ? parse(source.slice(0, MAX_TEXT)) : [];
  }

  /** The description of an event; missing values are empty, a result of 1024 bytes or more gives the unexpanded text. */
  expand(event: EngineEvent): string {
    if (this.#parts.length === 0) return this.source;
    let text = '';
    for (const part of this.#parts) {
      text += typeof part === 'string' ? part : (valueOf(event, part.name, part.key) ?? '');
    }
    return text.length >= MAX_TEXT ? this.source : text;
  }
}

function parse(source: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let at = 0;
  for (;;) {
    const open = source.indexOf('$(', at);
    const close = open < 0 ? -1 : source.indexOf(')', open);
    if (close < 0) break;
    if (open > at) parts.push(source.slice(at, open));
    const name = source.slice(open + 2, close);
    parts.push({ name, key: asciiLowerCase(name) });
    at = close + 1;
  }
  if (at < source.length) parts.push(source.slice(at));
  return parts;
}

function valueOf(event: EngineEvent, name: string, key: string): string | undefined {
  switch (name) {
    case 'dstuser':
    case 'srcuser':
    case 'srcip':
    case 'dstip':
    case 'srcport':
    case 'dstport':
    case 'protocol':
    case 'action':
    case 'id':
    case 'url':
    case 'data':
    case 'status':
    case 'extra_data':
    case 'system_name':
    case 'hostname':
      return event[name];
    case 'program_name':
      return event.programName;
    default:
      return findField(event, key);
  }
}
