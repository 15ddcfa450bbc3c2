import { entryLines } from './rootcheck-lists.js';

/** An entry of a policy file with what has to be looked at. */
export type PolicyControl = {
  readonly name: string;
  readonly cis: string[];
  readonly pci: string[];
  readonly condition: string;
  readonly reference: string;
  readonly checks: string[];
};

/** A policy file of rootcheck: variables, and entries with their checks. */
export type PolicyList = { readonly vars: Record<string, string>; readonly controls: PolicyControl[] };

/** `$name=value;` */
const VARIABLE = /^\$(\w+)=(.+)$/;
/** `f:...`, `d:...`, `p:...`, `r:...` */
const CHECK = /^\w:./;

/**
 * A policy file as the API shows it (integrity-and-inventory.md 9.3, rest-api.md 6.3). Checks in front of the first entry
 * and lines of another form are left out; that holds for everything in a file of another kind.
 */
export function parsePolicyList(text: string): PolicyList {
  // Names come from the file: a prototype would let one of them be more than a name.
  const vars = Object.create(null) as Record<string, string>;
  const controls: PolicyControl[] = [];
  for (const line of entryLines(text)) {
    const title = readTitle(line);
    if (title !== undefined) {
      controls.push(title);
      continue;
    }
    const [, name, value] = VARIABLE.exec(line) ?? [];
    if (name !== undefined && value !== undefined) vars[name] = value;
    else if (CHECK.test(line)) controls.at(-1)?.checks.push(line);
  }
  return { vars, controls };
}

function readTitle(line: string): PolicyControl | undefined {
  const parts = splitPolicyTitle(line);
  if (parts === undefined) return undefined;
  const { title, condition, reference } = parts;
  const tags = title.indexOf('{');
  const { cis, pci } = readTags(tags < 0 ? '' : title.slice(tags));
  const name = (tags < 0 ? title : title.slice(0, tags)).trim();
  return { name, cis, pci, condition, reference, checks: [] };
}

/**
 * `[Name {CIS: 1.1 RHEL} {PCI_DSS: 2.2}] [condition] [reference]`; a name may have brackets of its own. Gives the three
 * parts of the line that begins an entry, the tags still in its title; undefined for another line.
 */
export function splitPolicyTitle(
  line: string,
): { readonly title: string; readonly condition: string; readonly reference: string } | undefined {
  if (!line.startsWith('[') || !line.endsWith(']')) return undefined;
  const reference = lastBracket(line, line.length);
  const condition = reference === undefined ? undefined : lastBracket(line, reference.start);
  if (reference === undefined || condition === undefined) return undefined;
  const head = line.slice(0, condition.start).trimEnd();
  if (!head.startsWith('[') || !head.endsWith(']') || head.length < 2) return undefined;
  return { title: head.slice(1, -1).trim(), condition: condition.text, reference: reference.text };
}

/** The bracket that ends, white space aside, before `end`. */
function lastBracket(line: string, end: number): { readonly text: string; readonly start: number } | undefined {
  const close = line.slice(0, end).trimEnd().length - 1;
  if (line[close] !== ']') return undefined;
  const start = line.lastIndexOf('[', close);
  return start < 0 ? undefined : { text: line.slice(start + 1, close).trim(), start };
}

function readTags(text: string): { cis: string[]; pci: string[] } {
  const cis: string[] = [];
  const pci: string[] = [];
  for (const part of text.split('{')) {
    const end = part.indexOf('}');
    const colon = part.indexOf(':');
    if (end < 0 || colon < 0 || colon > end) continue;
    const [kind, value] = [part.slice(0, colon), part.slice(colon + 1, end).trim()];
    if (kind.includes('CIS')) cis.push(value);
    else if (kind.includes('PCI')) pci.push(value);
  }
  return { cis, pci };
}
