import type { XmlElement } from '../../xml/xml-element.js';
import { Details } from './detail-value.js';
import { type FileVariables, fileVariables, resolveVariable } from './file-variables.js';
import type { Listing, ListingProblem, ListingSource } from './listing-source.js';
import { parseListedFile } from './parse-listed-file.js';
import { type Requirement, REQUIREMENTS, type RuleItem } from './rule-item.js';

/** Elements that are shown as `{pattern, attributes}`. */
const PATTERN_ELEMENTS = new Set([
  'regex',
  'match',
  'action',
  'extra_data',
  'hostname',
  'id',
  'location',
  'program_name',
  'protocol',
  'user',
  'url',
  'srcport',
  'dstport',
  'status',
  'system_name',
  'srcgeoip',
  'dstgeoip',
]);

/**
 * Rules of one file as `GET /rules` shows them (rules-and-alerts.md 10.2): as they are written, not as the engine combines
 * them, so duplicates and overwriting rules are items of their own, and rules of disabled files are there too. What
 * cannot be read is a problem with file and line; it never hides the rest of the file, except when the XML is broken.
 */
export function listRules(source: ListingSource): Listing<RuleItem> {
  const items: RuleItem[] = [];
  const problems: ListingProblem[] = [];
  const { filename, relative_dirname } = source.file;
  const problem = (line: number, message: string): void => {
    problems.push({ filename, relative_dirname, line, message });
  };
  const roots = parseListedFile(source);
  if ('message' in roots) {
    return { items, problems: [roots] };
  }
  const variables = fileVariables(roots);
  for (const group of roots) {
    if (group.name.toLowerCase() !== 'group') {
      continue;
    }
    const fileGroups = splitGroups(group.attributes.find(({ name }) => name.toLowerCase() === 'name')?.value ?? '');
    for (const element of group.children) {
      if (element.name.toLowerCase() !== 'rule') {
        continue;
      }
      const rule = readRule(element, fileGroups, variables, source);
      if (typeof rule === 'string') {
        problem(element.line, rule);
      } else {
        items.push(rule);
      }
    }
  }
  return { items, problems };
}

/** The rule, or why it cannot be listed. */
function readRule(
  element: XmlElement,
  fileGroups: readonly string[],
  variables: FileVariables,
  source: ListingSource,
): RuleItem | string {
  let id: number | undefined;
  let level: number | undefined;
  let description = '';
  const details = new Details();
  const groups: string[] = [];
  const techniques: string[] = [];
  for (const { name, value } of element.attributes) {
    const key = name.toLowerCase();
    if (key === 'id') {
      id = parseInteger(resolveVariable(value, variables));
    } else if (key === 'level') {
      level = parseInteger(resolveVariable(value, variables));
    } else {
      details.setText(key, value);
    }
  }
  for (const child of element.children) {
    const key = child.name.toLowerCase();
    if (key === 'group') {
      groups.push(...splitGroups(child.content));
    } else if (key === 'description') {
      description += child.content;
    } else if (key === 'mitre') {
      techniques.push(...child.children.map(({ content }) => content.trim()));
    } else if (key === 'field') {
      const field = child.attributes.find(({ name }) => name === 'name')?.value ?? '';
      const others = child.attributes.filter(({ name }) => name !== 'name');
      details.addPattern(field, resolveVariable(child.content, variables), others);
    } else if (PATTERN_ELEMENTS.has(key)) {
      details.addPattern(key, resolveVariable(child.content, variables), child.attributes);
    } else if (key === 'list' || key === 'info') {
      details.addNamed(key, child);
    } else {
      details.addText(key, child.content);
    }
  }
  if (id === undefined || level === undefined) {
    return `Rule without a numeric ${id === undefined ? 'id' : 'level'}`;
  }
  const { filename, relative_dirname, status } = source.file;
  const { requirements, others } = splitRequirements([...groups, ...fileGroups], techniques);
  return {
    filename,
    relative_dirname,
    id,
    level,
    status,
    details: details.values,
    ...requirements,
    groups: others,
    description,
  };
}

function splitGroups(text: string): string[] {
  return text
    .split(',')
    .map((group) => group.trim())
    .filter((group) => group !== '');
}

/** Groups with a requirement's prefix lose it and one character after it, whatever that is (rules-and-alerts.md 10.2). */
function splitRequirements(groups: readonly string[], techniques: readonly string[]) {
  const requirements: Record<Requirement, string[]> = {
    pci_dss: [],
    gpg13: [],
    gdpr: [],
    hipaa: [],
    nist_800_53: [],
    tsc: [],
    mitre: [],
  };
  const others: string[] = [];
  const add = (requirement: Requirement, value: string): void => {
    if (!requirements[requirement].includes(value)) {
      requirements[requirement].push(value);
    }
  };
  for (const group of groups) {
    const requirement = REQUIREMENTS.find((prefix) => group.startsWith(prefix) && group.length > prefix.length + 1);
    if (requirement === undefined) {
      others.push(group);
    } else {
      add(requirement, group.slice(requirement.length + 1));
    }
  }
  for (const technique of techniques.filter((text) => text !== '')) {
    add('mitre', technique);
  }
  return { requirements, others };
}

function parseInteger(text: string): number | undefined {
  return /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : undefined;
}
