import type { PatternLanguage } from '../../lib/patterns/matcher.js';

/** Bytes of the long messages: as long as the longest that sources send. */
const LENGTH = 64_000;
/** Bytes of a subject that patterns look at closely. */
const NOT_SHORT = 300;

/** A pattern with a subject. */
export type WarmUpMatch = readonly [language: PatternLanguage, source: string, subject: string];
export type WarmUpMessage = { readonly queue: string; readonly message: string };

/** Patterns of PCRE2 that the machine runs for the back-reference before them: each of its instructions, ended in each way. */
const MACHINE = [
  ...[
    '^a',
    '\\Aa',
    'a$',
    'a\\z',
    'a\\Z',
    '(?m)^b',
    '(?m)a$',
    '\\bb',
    '\\Bb',
    'b\\b',
    'a\\B',
    '_\\b',
    '\\B-',
    '9\\b',
    'Z\\b',
  ],
  ...[
    '[ab]+b',
    '[ab]+?b',
    '[ab]++b',
    '[ab]{2,5}b',
    '[ab]{2,5}?1',
    '[ab]{3}',
    '[ab]{2,}?[^x]',
    '.*z',
    '.*?z',
    '.*\\s',
    '.+?$',
    'a.*',
  ],
  ...[
    '(?:ab?)+b',
    '(?:ab?)+?b',
    '(?:a|b|1)*z',
    '(?:a?)*b',
    '(?:a?)*?b',
    '(?:ab){2,4}a',
    '(?:ab){2,4}?a',
    '(?:a|b)*+z',
    '(a|b?)*z',
  ],
  ...['(?>a+|b)+b', '(?=ab)a', '(?!ab)a', '(?<=a)b', '(?<!a)b', '(?<=ab|b)1', '(?=(a)|b)(?2)'],
  ...[
    '(?(1)a|b)',
    '(?(?=a)ab|b)',
    '(?(?!a)b|a)',
    '(x)?(?(2)a|b)',
    '(a|b(?2)c)',
    '(a)(?:b|(?2))b',
    '((?:b|(?2))*)z',
    '(?R)?b',
    '(a(?(R)b|1)(?2)?)',
  ],
  ...['(a|b)\\2', '(x)?\\2b', '(a+)\\2', '(?i)(a+b?)\\2', '(?i)ab|zz', '((a)|b)+1', '(|a)+b', 'zz'],
].map((rest) => `(q?)\\1${rest}`);

/** The same for OS_Regex, with marks, and with alternatives that begin and end in each way. */
const SCANS = [
  ...[
    'zz',
    'ab',
    '^ab',
    'ab$',
    '^a\\w+$',
    'a|zz|b1',
    '\\w+1',
    '(\\w+)1',
    '(\\w+) (\\d*)(\\.*)z',
    '\\.*z',
    '(\\.*)z',
    '\\.+',
    '(\\.+)',
    '\\d+',
    '(\\d*)z',
  ],
  ...[
    'a\\w*b',
    '^\\w*b\\w*1',
    '\\w*a\\w*b\\w*a\\w*b\\w*a\\w*z',
    '(a\\w+)(b\\d*)',
    '\\s*a',
    '^\\s*(\\S+)\\s*$',
    '\\S+\\s\\S*$',
    '\\w*$',
    '(\\w*)$',
  ],
  ...[
    '\\W+a',
    '\\D+z',
    '\\p*a',
    '\\t*a',
    '\\d\\d*(\\w)',
    '(\\w)(\\w)(\\w)',
    '\\w\\d\\s',
    'a(\\d*)',
    'a\\d*b*',
    '\\w+\\w+\\w+z',
    'b\\w+b\\w+b',
    '(b)\\w*(b\\w*b)',
  ],
];

const WORDS = ['zz', '^a', 'a$', '^ab$', '!zz', 'a|b', 'zz|^b|1$', '!^a'];

/** What the short patterns look at: texts that begin and end in each way, and one that is long enough to be looked at closely. */
const SUBJECTS = [
  '',
  'a',
  'ab',
  'ab1 ',
  '1',
  'aab b1 Z_9-x\n',
  '\nb a\n',
  'ABab9 _a',
  'q\xffb\x80\xc3\xa9 ab',
  'abababababz',
  '  a  ',
];

/** All short ones with each of their subjects. */
export function* shortMatches(): Iterable<WarmUpMatch> {
  const long = ['ab1 ', 'b', '1a\xff '].map((unit) => unit.repeat(NOT_SHORT / unit.length + 1));
  for (const subject of [...SUBJECTS, ...long]) {
    for (const source of MACHINE) yield ['pcre2', source, subject];
    for (const source of SCANS) yield ['osregex', source, subject];
    for (const source of WORDS) yield ['osmatch', source, subject];
  }
}

/** Patterns with the unit of a subject, so that each instruction of the machines runs, and none finds a match at once. */
const LONG: readonly WarmUpMatch[] = [
  ['pcre2', '(a+)+(b|c)*?\\1(?!z)(?:ab|b.){2,9}no$', 'aab '],
  ['pcre2', '(?>a|ab)+(?=b)\\b(a[^x]*?b|b(?1)c)++(?(1)n|o)no', 'abab no'],
  ['pcre2', '(?:(a|b|c|\\w+?|[ab]*1?)+ )+(?<!x)no$', 'ab1 no'],
  ['pcre2', '((\\w+)\\s?)*!', 'word aab!x'],
  // More groups and marks than the machines have room for at first: they get other memory, and V8 other code.
  ['pcre2', `${'(a)?'.repeat(20)}(?:${'(b)?'.repeat(20)}a)+ !`, 'aab !b'],
  ['osregex', `${'(\\w+)'.repeat(20)}\\d+ no`, 'aab1 n'],
  ['pcre2', '(?:a.*?b[^c]*?c.{0,9}?)+?(?:x|n)o{2,}?', 'aab ab c n'],
  ['pcre2', '(?i)(?<w>a+)b?(?=(c|b)).+?\\b1{1,3}+(?!q)\\s*$!', 'AAb c1 '],
  ['osregex', 'zz(\\w+)\\d+: a\\.*b|a\\w+b\\w+c\\w+d', 'aazzb1c d'],
  ['osregex', '\\w+b\\w*c(\\d+)\\s no', 'aabc1 '],
  ['osregex', 'a\\.+b\\s*zz|^\\S+ (\\w+)x', 'ab c'],
  ['osregex', '\\.*a\\w*a\\w*ab', 'aa c'],
  ['osmatch', 'never|absent$|nowhere', 'nevea nab'],
];

export function longMatches(): WarmUpMatch[] {
  return LONG.map(([language, source, unit]) => [language, source, repeated(unit)]);
}

/** A message of each kind, short. */
const SHORT_JSON = [
  '{"a":[1,2.5,-3,1e16,9e307,0.1234567890123456,5e-324,-0,12345678901,"x\\n\\u00e9\\ud83d\\ude00\\u0000y",true,false,null,{"b":[],"c":{}},[[]]],"b":1}',
  '{"n":1,"m":-1,"f":1.7,"g":1e16,"h":1e300,"i":0.1234567890123456,"s":"x","t":true,"u":false,"v":null,"o":{"p":{"q":"r"},"e":{}},"srcip":"10.0.0.1"}',
  '{"e":"a\\n\\t\\r\\b\\f\\/\\\\\\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00","\xc3\xa9":"\xff\x01"}',
  ' { "a" : 1 , "b" : [ 1 , 2 ] , "c" : { "d" : "e" } } ',
];

/** Short messages: whole, and cut short at many places. */
export function* shortMessages(): Iterable<WarmUpMessage> {
  for (const json of SHORT_JSON) {
    for (let length = json.length; length > 1; length -= 3) yield { queue: '1', message: json.slice(0, length) };
  }
  for (const { queue, message } of records(2)) {
    for (let part = 4; part > 0; part -= 1) yield { queue, message: message.slice(0, (message.length * part) >> 2) };
  }
  for (const text of [
    '',
    'x',
    'Mar  4 10:15:30 host warm: go http://x xxx aab c1',
    '\xff\x01',
    "File '/x' is odd",
    '[Time 2023.12.01 10:10:10 UTC] [Facility a] [Sender b] [Message c]',
  ]) {
    yield { queue: '1', message: text };
    yield { queue: '9', message: text };
  }
}

/** Long messages of each kind. */
export function longMessages(): WarmUpMessage[] {
  return [
    { queue: '1', message: repeated('ab ba b1 no c') },
    { queue: '1', message: repeated('a') },
    { queue: '1', message: repeated('\x01\xff"\\') },
    { queue: '1', message: `Mar  4 10:15:30 host warm: go http://x xxx ${repeated('aab c1 ')}` },
    { queue: '1', message: `{"a":[${repeated('1.5,"x\\n",9e307,')}1],"b":1}` },
    { queue: '1', message: `{${members(3000)}}` },
    { queue: '1', message: `{"s":"${repeated('a\\u00e9\\n ')}"}` },
    ...records(LENGTH),
  ];
}

/** Events of modules with parts of about so many bytes. */
function records(bytes: number): WarmUpMessage[] {
  const data = '<Data Name="a">b</Data>';
  const event = `<E><System><EventID>7</EventID></System><EventData>${repeated(data, bytes)}<Data>c</Data></EventData></E>`;
  return [
    { queue: '8', message: fileEvent(bytes) },
    { queue: 'p', message: policyCheck(bytes) },
    { queue: 'f', message: JSON.stringify({ Message: 'm', Event: event }) },
  ];
}

function repeated(unit: string, bytes = LENGTH): string {
  return unit.repeat(Math.ceil(bytes / unit.length));
}

function members(count: number): string {
  return Array.from({ length: count }, (_, i) => `"f${String(i)}.text":${i % 2 === 0 ? '"x"' : '1.25'}`).join(',');
}

function fileEvent(bytes: number): string {
  const attributes = { type: 'file', size: 1, perm: 'rw-r--r--', hash_md5: 'x' };
  const data = { path: '/a', version: 2, mode: 'realtime', type: 'modified', timestamp: 1, attributes };
  const changes = repeated('< a\n', bytes);
  return JSON.stringify({
    type: 'event',
    data: { ...data, old_attributes: { ...attributes, size: 2 }, content_changes: changes },
  });
}

function policyCheck(bytes: number): string {
  const compliance = Object.fromEntries(
    Array.from({ length: Math.min(bytes, 200) }, (_, i) => [`k${String(i)}`, '1,2']),
  );
  const check = {
    id: 1,
    title: 't',
    rules: ['f:/a', 'c:b'],
    result: 'failed',
    compliance,
    file: repeated('a,', bytes >> 2),
  };
  return JSON.stringify({ type: 'check', id: 1, policy: 'p', policy_id: 'p', check });
}
