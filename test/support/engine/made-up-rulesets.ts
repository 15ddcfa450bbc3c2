import fc from 'fast-check';
import { group } from './engine-kit.js';

/*
 * Decoders, rules and lines over few bytes, in the shapes that rulesets of the field have: anchored prefixes of classes, `name="(\.*)"`
 * with its alternatives, repeats that end at a byte they accept themselves, chains of one field each. Texts of patterns and
 * of lines come from the same words, so that many match, and many nearly.
 */

const word = fc.constantFrom(
  'a',
  'b',
  'ab',
  'id',
  'Id',
  'x',
  '1',
  '12',
  '-',
  ':',
  '"',
  '=',
  ' ',
  '  ',
  '[',
  '.',
  '\xe9',
);

/** A piece of an OS_Regex without groups. */
const piece = fc.oneof(
  { weight: 3, arbitrary: word },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '\\d',
      '\\w',
      '\\s',
      '\\S',
      '\\p',
      '\\.',
      '\\d+',
      '\\w+',
      '\\S+',
      '\\s+',
      '\\.+',
      '\\W+',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('\\d*', '\\w*', '\\S*', '\\s*', '\\.*', '\\p*', '\\D*') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('\\S+ ', '\\d+:', '\\.*"', '\\S+"', '\\w+=', '\\S+ \\S+ ', '\\.+\\s', '\\S+.'),
  },
);
const groups = fc.constantFrom(
  '(\\S+)',
  '(\\d+)',
  '(\\.+)',
  '(\\w+) ',
  '"(\\.*)"',
  '"(\\S+)"',
  '=(\\.*)\\s',
  '(\\S+) (\\S+)',
  '(\\d*)',
);
const field = fc
  .constantFrom('id', 'a', 'x')
  .chain((name) =>
    fc.constantFrom(
      `${name}="(\\.*)"|${name}=(\\.*)\\s|${name}=(\\.*)$`,
      `${name}="(\\S+)"`,
      `${name}=(\\S+)`,
      `${name}=(\\d+) `,
      `${name}:(\\.+) `,
    ),
  );

function sequence(pieces: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.constantFrom('', '', '^'),
      fc.array(pieces, { minLength: 1, maxLength: 5 }),
      fc.constantFrom('', '', '', '', '$'),
    )
    .map(([caret, parts, dollar]) => caret + parts.join('') + dollar);
}

function alternatives(one: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(one, { minLength: 1, maxLength: 2 }).map((parts) => parts.join('|'));
}

const plainPattern = alternatives(sequence(piece));
const capturing = fc.oneof(
  field,
  sequence(fc.oneof({ weight: 2, arbitrary: piece }, { weight: 3, arbitrary: groups })).filter((text) =>
    text.includes('('),
  ),
);

/** Any OS_Regex of these shapes, some of them with groups. */
export const madeUpOsRegex = fc.oneof(plainPattern, capturing);

/** Texts that such patterns look at. */
export const madeUpLine = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: word },
      {
        weight: 1,
        arbitrary: fc.constantFrom('id="a b"', 'id=12 ', 'a="', 'x:1 ', '""', 'ab ab ', '1.12.1.1', ' - - ['),
      },
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

const osMatch = fc
  .tuple(
    fc.constantFrom('', '', '', '!'),
    fc.array(fc.tuple(fc.constantFrom('', '', '^'), word, fc.constantFrom('', '', '$')), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([negation, texts]) => negation + texts.map((text) => text.join('').trim() || 'a').join('|'));
const pcre2 = fc.constantFrom(
  'a.*b',
  '(?:id|x)=',
  '^\\d+',
  '(\\w+)="([^"]*)"',
  '\\bab\\b',
  '(?i)ID',
  '(a|b)+:',
  '(\\S+)-(\\S+)',
);
const typed = fc.oneof(
  { weight: 4, arbitrary: plainPattern.map((text) => ['osregex', text] as const) },
  { weight: 1, arbitrary: osMatch.map((text) => ['osmatch', text] as const) },
  { weight: 1, arbitrary: pcre2.map((text) => ['pcre2', text] as const) },
);

function escape(text: string): string {
  return text.replaceAll('<', '\\<').replaceAll('&', '');
}

function element(name: string, [type, text]: readonly [string, string], attributes = ''): string {
  return `<${name} type="${type}"${attributes}>${escape(text)}</${name}>`;
}

const order = fc
  .array(fc.constantFrom('srcip', 'id', 'status', 'user', 'url', 'app.x', 'app.y', 'APP.X'), {
    minLength: 1,
    maxLength: 3,
  })
  .map((names) => `<order>${names.join(',')}</order>`);
const member = fc.record({ regex: capturing, order, offset: fc.constantFrom('', '', 'after_parent', 'after_regex') });
const chain = fc.record({
  prematch: fc.option(fc.tuple(typed, fc.boolean()), { nil: undefined, freq: 3 }),
  regex: fc.option(
    fc.record({ regex: capturing, order, offset: fc.constantFrom('', 'after_parent', 'after_prematch') }),
    { nil: undefined, freq: 4 },
  ),
  more: fc.array(member, { maxLength: 5 }),
});
const root = fc.record({
  program: fc.constantFrom('', '<program_name>^app$</program_name>', '<program_name>app|x</program_name>'),
  prematch: fc.option(typed, { nil: undefined, freq: 4 }),
  chains: fc.array(chain, { maxLength: 4 }),
  regex: fc.option(fc.tuple(capturing, order), { nil: undefined }),
});

/** Decoder files; not every one of them loads. */
export const madeUpDecoders = fc.array(root, { minLength: 1, maxLength: 6 }).map((roots) =>
  roots
    .map(({ program, prematch, chains, regex }, r) => {
      const name = `r${String(r)}`;
      const own = regex === undefined ? '' : element('regex', ['osregex', regex[0]]) + regex[1];
      const tests = program + (prematch === undefined ? '' : element('prematch', prematch));
      const tested = tests === '' ? element('prematch', ['osregex', '\\.']) : tests;
      const children = chains.flatMap((each, c) => {
        const wrap = (content: string): string =>
          `<decoder name="${name}c${String(c)}"><parent>${name}</parent>${content}</decoder>`;
        const offset = (word: string): string => (word === '' ? '' : ` offset="${word}"`);
        const first =
          (each.prematch === undefined
            ? ''
            : element('prematch', each.prematch[0], offset(each.prematch[1] ? 'after_parent' : ''))) +
          (each.regex === undefined
            ? ''
            : element(
                'regex',
                ['osregex', each.regex.regex],
                offset(each.regex.offset === 'after_prematch' && each.prematch === undefined ? '' : each.regex.offset),
              ) + each.regex.order);
        const more = each.regex === undefined ? [] : each.more;
        return [first, ...more.map((one) => element('regex', ['osregex', one.regex], offset(one.offset)) + one.order)]
          .filter((content) => content !== '')
          .map(wrap);
      });
      return `<decoder name="${name}">${tested}${chains.length === 0 ? own : ''}</decoder>${children.join('')}`;
    })
    .join('\n'),
);

const condition = fc.oneof(
  { weight: 4, arbitrary: osMatch.map((text) => element('match', ['osmatch', text.replace(/^!/, '')])) },
  { weight: 3, arbitrary: typed.map((pattern) => element('regex', pattern)) },
  { weight: 1, arbitrary: typed.map((pattern) => element('match', pattern, ' negate="yes"')) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('id', 'status', 'url', 'program_name', 'user'), typed)
      .map(([name, pattern]) => element(name, pattern)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('app.x', 'app.y'), plainPattern)
      .map(([name, text]) => `<field name="${name}">${escape(text)}</field>`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '<decoded_as>r0</decoded_as>',
      '<decoded_as>r1</decoded_as>',
      '<check_diff/>',
      '<if_fts/>',
    ),
  },
);
const rule = fc.record({
  level: fc.integer({ min: 0, max: 4 }),
  noalert: fc.boolean(),
  conditions: fc.array(condition, { maxLength: 3 }),
  parents: fc.array(fc.nat(30), { maxLength: 2 }),
  composite: fc.nat(5).map((n) => n === 0),
});

/** Rule files. */
export const madeUpRules = fc.array(rule, { minLength: 1, maxLength: 30 }).map((rules) =>
  group(
    rules
      .map(({ level, noalert, conditions, parents, composite }, i) => {
        const known = parents.filter((parent) => parent < i).map((parent) => String(100 + parent));
        const place = known.length === 0 ? '' : `<if_sid>${known.join(', ')}</if_sid>`;
        const search = composite && known[0] !== undefined ? `<if_matched_sid>${known[0]}</if_matched_sid>` : '';
        const frequency = search === '' ? '' : ' frequency="2" timeframe="60"';
        // conditions of one kind stand once: a second one would replace the first
        const once = new Map(conditions.map((text) => [/^<\w+(?: name="[\w.]+")?/.exec(text)?.[0], text]));
        return (
          `<rule id="${String(100 + i)}" level="${String(level)}" noalert="${noalert ? '1' : '0'}"${frequency}>` +
          `${search === '' ? place : search}${[...once.values()].join('')}<description>d</description></rule>`
        );
      })
      .join(''),
  ),
);
