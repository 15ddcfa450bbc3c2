import { type CodePoints, outside } from './code-points.js';

const DIGIT: CodePoints = [[0x30, 0x39]];
const WORD: CodePoints = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
const SPACE: CodePoints = [
  [0x09, 0x0d],
  [0x20, 0x20],
];
const ALPHA: CodePoints = [
  [0x41, 0x5a],
  [0x61, 0x7a],
];

/** Line breaks, as `\v` and (beside CR LF) `\R` have them. */
export const VERTICAL: CodePoints = [
  [0x0a, 0x0d],
  [0x85, 0x85],
  [0x2028, 0x2029],
];

const LOWER_CASE_CLASSES: readonly (readonly [string, CodePoints])[] = [
  ['d', DIGIT],
  ['w', WORD],
  ['s', SPACE],
  [
    'h',
    [
      [0x09, 0x09],
      [0x20, 0x20],
      [0xa0, 0xa0],
      [0x1680, 0x1680],
      [0x180e, 0x180e],
      [0x2000, 0x200a],
      [0x202f, 0x202f],
      [0x205f, 0x205f],
      [0x3000, 0x3000],
    ],
  ],
  ['v', VERTICAL],
];

/** Classes behind one-letter escapes, without Unicode properties (UCP); the capital letter is the complement. */
export const ESCAPE_CLASSES: ReadonlyMap<string, CodePoints> = new Map(
  LOWER_CASE_CLASSES.flatMap(([letter, ranges]) => [
    [letter, ranges],
    [letter.toUpperCase(), outside(ranges)],
  ]),
);

/** POSIX class names of `[[:name:]]`, in the C locale. */
export const POSIX_CLASSES: ReadonlyMap<string, CodePoints> = new Map<string, CodePoints>([
  ['alnum', [...DIGIT, ...ALPHA]],
  ['alpha', ALPHA],
  ['ascii', [[0x00, 0x7f]]],
  [
    'blank',
    [
      [0x09, 0x09],
      [0x20, 0x20],
    ],
  ],
  [
    'cntrl',
    [
      [0x00, 0x1f],
      [0x7f, 0x7f],
    ],
  ],
  ['digit', DIGIT],
  ['graph', [[0x21, 0x7e]]],
  ['lower', [[0x61, 0x7a]]],
  ['print', [[0x20, 0x7e]]],
  [
    'punct',
    [
      [0x21, 0x2f],
      [0x3a, 0x40],
      [0x5b, 0x60],
      [0x7b, 0x7e],
    ],
  ],
  ['space', SPACE],
  ['upper', [[0x41, 0x5a]]],
  ['word', WORD],
  [
    'xdigit',
    [
      [0x30, 0x39],
      [0x41, 0x46],
      [0x61, 0x66],
    ],
  ],
]);
