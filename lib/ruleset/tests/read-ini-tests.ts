import { QUEUE_IDS } from '../../events/queue-ids.js';
import { DEFAULT_TEST_TIME, type Expectation, type RuleTest, RuleTestError } from './rule-test.js';

/** A `log ...` key of a section: all values given to it are events of one session. */
type IniCase = { readonly key: string; readonly line: number; readonly logs: string[] };
type IniSection = {
  readonly title: string;
  readonly cases: Map<string, IniCase>;
  readonly settings: Map<string, string>;
};

/**
 * Reads a test file in the reference's `.ini` form (rules-and-alerts.md 9.9). Each `log` key becomes one test; a key that
 * ends in `fail` must not come to the section's rule, level and decoder, all others must.
 *
 * @throws RuleTestError with the line
 */
export function readIniTests(source: string, file: string): RuleTest[] {
  return readSections(source, file).flatMap((section) => {
    const triple = expectedTriple(section, file);
    return [...section.cases.values()].map((each): RuleTest => {
      const mustNot = each.key.endsWith('fail');
      return {
        name: `${section.title}: ${each.key}`,
        file,
        line: each.line,
        at: DEFAULT_TEST_TIME,
        events: each.logs.map((log) => ({ log, location: 'stdin', queue: QUEUE_IDS.log, after: 0 })),
        expect: mustNot ? {} : triple,
        expectNot: {
          rules: mustNot && typeof triple.rule === 'number' ? [triple.rule] : [],
          through: [],
          ...(mustNot ? { triple } : {}),
        },
      };
    });
  });
}

function readSections(source: string, file: string): IniSection[] {
  const sections: IniSection[] = [];
  let lastCase: IniCase | undefined;
  source.split(/\r?\n/).forEach((line, index) => {
    const number = index + 1;
    if (/^\s*(?:[;#]|$)/.test(line)) {
      return;
    }
    const header = /^\[(.*)\]\s*$/.exec(line);
    if (header !== null) {
      sections.push({ title: header[1] ?? '', cases: new Map(), settings: new Map() });
      lastCase = undefined;
      return;
    }
    const section = sections.at(-1);
    if (/^\s/.test(line) && lastCase !== undefined) {
      // An indented line goes on with the value before it.
      const last = lastCase.logs.pop() ?? '';
      lastCase.logs.push(`${last}\n${line.trim()}`);
      return;
    }
    const at = line.search(/[=:]/);
    if (at <= 0 || section === undefined) {
      throw new RuleTestError(
        file,
        number,
        section === undefined ? 'text before the first [section]' : 'not "key = value"',
      );
    }
    const key = line.slice(0, at).trimEnd().toLowerCase();
    const value = line.slice(at + 1).trim();
    if (!key.startsWith('log ')) {
      section.settings.set(key, value);
      lastCase = undefined;
      return;
    }
    lastCase = section.cases.get(key) ?? { key, line: number, logs: [] };
    lastCase.logs.push(value);
    section.cases.set(key, lastCase);
  });
  return sections;
}

/** Rule, level and decoder of a section; an empty or missing value means that there is none. */
function expectedTriple({ title, settings }: IniSection, file: string): Expectation {
  const numberOf = (key: string): number | null => {
    const value = settings.get(key) ?? '';
    if (!/^\d*$/.test(value)) {
      throw new RuleTestError(file, 0, `[${title}] ${key}: '${value}' is not a number`);
    }
    return value === '' ? null : Number(value);
  };
  const decoder = settings.get('decoder') ?? '';
  return { rule: numberOf('rule'), level: numberOf('alert'), decoder: decoder === '' ? null : decoder };
}
