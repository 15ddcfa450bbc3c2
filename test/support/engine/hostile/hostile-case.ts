import type { RulesetSources } from '../../../../lib/engine/load/load-ruleset.js';
import { compilePattern } from '../../../../lib/patterns/compile-pattern.js';
import { PatternError } from '../../../../lib/patterns/pattern-error.js';
import { Random } from '../../../chaos/random.js';
import { ROOTS } from '../engine-kit.js';
import { type HostileLine, hostileLine, type LineAims, type LineSizes } from './hostile-lines.js';
import { type HostilePattern, hostilePattern } from './hostile-patterns.js';

/** A ruleset and messages that were made for each other; the same for the same seed. */
export type HostileCase = { readonly sources: RulesetSources; readonly lines: readonly HostileLine[] };

/** What is made for a ruleset. */
export type CaseShape = { readonly lines: number; readonly sizes: LineSizes };

/** As bad as events can be. */
export const LARGE_CASE: CaseShape = { lines: 40, sizes: 'large' };
/** As many events as can be tried: most of them are small, and take little time. */
export const MIXED_CASE: CaseShape = { lines: 500, sizes: 'mixed' };
/** Lines at the end of some cases that are the same. */
const SAME_LINES = 20;

const FIELDS = ['a', 'b', 'f.a', 'a.b.c', 'win.eventdata.a', 'win.system.eventID', 'k7', 'sca.check.file'] as const;
const STATIC = ['srcip', 'dstuser', 'url', 'data', 'extra_data', 'id', 'status', 'action'] as const;

/** Makes the case of a seed: one of another shape has the same ruleset, and other messages. */
export function hostileCase(seed: number, shape: CaseShape = LARGE_CASE): HostileCase {
  return new CaseMaker(new Random(seed)).make(shape);
}

class CaseMaker {
  readonly #random: Random;
  readonly #pieces = new Set<string>(['a', 'ab']);

  constructor(random: Random) {
    this.#random = random;
  }

  make({ lines: count, sizes }: CaseShape): HostileCase {
    const random = this.#random;
    const decoders = this.#decoders();
    const rules = `<group name="local,">${this.#rules(
      random.weighted([
        [6, random.integer(1, 12)],
        [3, random.integer(12, 120)],
        [1, random.integer(120, 600)],
      ]),
    )}</group>`;
    const aims: LineAims = { pieces: [...this.#pieces], fields: FIELDS };
    const lines = Array.from({ length: count }, () => hostileLine(random, aims, sizes));
    // The same once more, for rules that count.
    const [first] = lines;
    if (first !== undefined && random.chance(0.3)) lines.fill(first, count - SAME_LINES);
    return {
      sources: {
        decoders: [{ path: 'decoders/hostile.xml', content: decoders }],
        rules: [
          { path: 'rules/0000-roots.xml', content: ROOTS },
          { path: 'rules/hostile.xml', content: rules },
        ],
        lists: [{ path: 'etc/lists/hostile', content: 'a:1\n10.:2\n10.0.:3\naaaa.:4\n' }],
      },
      lines,
    };
  }

  /** A pattern that compiles, as an element with attributes. */
  #element(name: string, attributes = '', osMatch = true): string {
    for (;;) {
      const pattern: HostilePattern = hostilePattern(this.#random);
      if (!compiles(pattern) || (!osMatch && !isForDecoders(pattern))) continue;
      for (const piece of pattern.pieces) if (piece !== '') this.#pieces.add(piece);
      return `<${name} type="${pattern.language}"${attributes}>${pattern.source}</${name}>`;
    }
  }

  #decoders(): string {
    const random = this.#random;
    const decoder = (name: string, body: string): string => `<decoder name="${name}">${body}</decoder>\n`;
    let text = '';
    for (let root = random.integer(0, 3); root > 0; root -= 1) {
      text += decoder(`r${String(root)}`, this.#element(random.chance(0.3) ? 'program_name' : 'prematch', '', false));
    }
    text += decoder('k', `<prematch>^k </prematch>`);
    const children = random.weighted([
      [4, random.integer(1, 6)],
      [2, random.integer(6, 60)],
      [1, 300],
    ]);
    const chained = random.chance(0.6);
    if (random.chance(0.4)) {
      const plugin = '<parent>k</parent><plugin_decoder offset="after_parent">JSON_Decoder</plugin_decoder>';
      text += decoder('kid', plugin).repeat(chained ? random.integer(1, 8) : 1);
    }
    for (let i = 0; i < children; i += 1) {
      const offset = random.pick(['after_parent', i === 0 || !chained ? 'after_parent' : 'after_regex', '']);
      const order = Array.from({ length: random.integer(1, 8) }, () =>
        random.pick(random.chance(0.5) ? STATIC : FIELDS),
      );
      const regex = this.#capturing(offset === '' ? '' : ` offset="${offset}"`);
      const prematch = chained ? '' : this.#element('prematch', ' offset="after_parent"', false);
      const name = chained ? 'kid' : `kid${String(i)}`;
      text += decoder(name, `<parent>k</parent>${prematch}${regex}<order>${order.join(', ')}</order>`);
    }
    return text + decoder('json', '<prematch>^{</prematch><plugin_decoder>JSON_Decoder</plugin_decoder>');
  }

  /** A regex with at least one group. */
  #capturing(attributes: string): string {
    if (this.#random.chance(0.3)) return `<regex type="pcre2"${attributes}>((((.*))))</regex>`;
    if (this.#random.chance(0.3)) return `<regex type="osregex"${attributes}>(\\.+)</regex>`;
    for (;;) {
      const pattern = hostilePattern(this.#random);
      const wrapped = { ...pattern, source: pattern.language === 'osregex' ? pattern.source : `(${pattern.source})` };
      if (!isForDecoders(wrapped) || !/\((?!\?)/.test(wrapped.source) || !compiles(wrapped)) continue;
      for (const piece of pattern.pieces) if (piece !== '') this.#pieces.add(piece);
      return `<regex type="${wrapped.language}"${attributes}>${wrapped.source}</regex>`;
    }
  }

  #rules(count: number): string {
    const random = this.#random;
    let text = '<rule id="99" level="0" noalert="1"><if_sid>1</if_sid><description>base</description></rule>\n';
    for (let i = 0; i < count; i += 1) {
      const id = 100 + i;
      const parent = random.pick([1, 1, 7, 99, Math.max(99, id - 1), Math.max(99, id - 1)]);
      const body =
        i > 0 && random.chance(0.2)
          ? this.#counting(random.integer(100, id - 1))
          : `<if_sid>${String(parent)}</if_sid>${this.#conditions(random.integer(0, 3))}`;
      const counts = body.startsWith('<if_matched')
        ? ` frequency="${String(random.integer(2, 30))}" timeframe="999"`
        : '';
      const place = random.pick(['', ' $(a)$(f.a)', '$(k7)'.repeat(100)]);
      text += `<rule id="${String(id)}" level="${String(random.integer(0, 12))}"${counts}>${body}<description>d${place}</description><group>g${String(id % 3)},</group></rule>\n`;
    }
    return text;
  }

  #counting(of: number): string {
    const random = this.#random;
    const search = random.pick([
      `<if_matched_sid>${String(of)}</if_matched_sid>`,
      '<if_matched_group>local</if_matched_group>',
    ]);
    const conditions = [
      '<same_source_ip />',
      '<same_field>a</same_field>',
      '<same_field>f.a</same_field>',
      '<different_url />',
      '<different_field>b</different_field>',
      '<same_user />',
      '<global_frequency />',
      '<same_extra_data />',
    ];
    return search + conditions.filter(() => random.chance(0.25)).join('');
  }

  /** Of one name there is one: contents of several would be joined. */
  #conditions(count: number): string {
    const byName = new Map<string, string>();
    for (let i = 0; i < count; i += 1) {
      const condition = this.#condition();
      byName.set(/^<\w+(?: \w+="[^"]*")?/.exec(condition)?.[0].replace(/ type.*/, '') ?? '', condition);
    }
    return [...byName.values()].join('');
  }

  #condition(): string {
    const random = this.#random;
    switch (random.integer(0, 8)) {
      case 0:
        return `<list field="${random.pick([...FIELDS, 'srcip', 'url'])}" lookup="${random.pick(['address_match_key', 'match_key', 'not_match_key'])}">etc/lists/hostile</list>`;
      case 1:
        return this.#element('match', random.chance(0.2) ? ' negate="yes"' : '');
      case 2:
      case 3:
        return this.#element('field', ` name="${random.pick(FIELDS)}"`);
      case 4:
        return this.#element(
          random.pick(['url', 'user', 'extra_data', 'id', 'status', 'action', 'location', 'hostname']),
        );
      case 5:
        return random.pick([
          '<if_fts />',
          '<check_diff />',
          '<srcip>10.0.0.0/8</srcip>',
          '<compiled_rule>is_valid_crawler</compiled_rule>',
        ]);
      default:
        return this.#element('regex', random.chance(0.2) ? ' negate="yes"' : '');
    }
  }
}

/** Decoders know two of the languages, and have limits of their own. */
function isForDecoders({ language, source }: HostilePattern): boolean {
  return language !== 'osmatch' && source.length < 1000;
}

function compiles({ language, source }: HostilePattern): boolean {
  try {
    compilePattern(language, source);
    return true;
  } catch (error) {
    if (error instanceof PatternError) return false;
    throw error;
  }
}
