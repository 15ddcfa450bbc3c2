import type { Random } from '../../../chaos/random.js';

/** Bytes of the longest line. */
const LONGEST = 65_400;

/** What a line is made for: pieces of patterns, and names of fields that rules look at. */
export type LineAims = { readonly pieces: readonly string[]; readonly fields: readonly string[] };

/** A message and the queue it comes by. */
export type HostileLine = { readonly queue: string; readonly message: string };

const HEADERS = [
  '',
  '',
  'Mar  4 10:15:30 web-02 app: ',
  'Mar  4 10:15:30 web-02 app[12]: ',
  '2023-12-01T10:10:10.123456+00:00 web-02 app: ',
  '[Time 2023.12.01 10:10:10 UTC] [Facility a] [Sender app] [Message ',
  '12/01-10:10:10.123456  ',
  'k ',
  'k ab ',
];
const UNITS = [
  'a',
  'ab',
  'aab',
  'a ',
  '(',
  '"',
  '\\',
  '[',
  ', ',
  '. ',
  "' ",
  '=',
  '{',
  '\x01',
  '\xff',
  '\xc3\xa9',
  '1',
  'x1 ',
  '\t',
];

/** Sizes of messages: up to 64 KB, which every third one has when they are `large`, one in 40 when they are `mixed`. */
export type LineSizes = 'large' | 'mixed';

/** Makes a message of a queue. */
export function hostileLine(random: Random, aims: LineAims, sizes: LineSizes): HostileLine {
  const size = sizes === 'large' ? largeSize(random) : mixedSize(random);
  if (random.chance(0.12)) return { queue: '8', message: cut(fim(random, size), size) };
  if (random.chance(0.06)) return { queue: '9', message: cut(`File '${filled(random, size, aims)}`, size) };
  if (random.chance(0.06)) return { queue: 'p', message: policyCheck(random, size) };
  if (random.chance(0.06)) return { queue: 'f', message: cut(windows(random, size, aims), LONGEST) };
  if (random.chance(0.25)) return { queue: '1', message: random.pick(['', 'k ']) + json(random, size, aims) };
  let text = random.pick(HEADERS) + filled(random, size, aims);
  if (random.chance(0.05)) text += `\0${text}`;
  return { queue: '1', message: cut(text, LONGEST) };
}

function largeSize(random: Random): number {
  return random.weighted([
    [2, random.integer(0, 200)],
    [2, random.integer(200, 5000)],
    [1, random.integer(5000, 30_000)],
    [3, LONGEST],
  ]);
}

function mixedSize(random: Random): number {
  return random.weighted([
    [24, random.integer(0, 200)],
    [12, random.integer(200, 3000)],
    [3, random.integer(3000, 30_000)],
    [1, LONGEST],
  ]);
}

function cut(text: string, size: number): string {
  return text.slice(0, Math.max(size, 10));
}

/** Text of some length that patterns get far in. */
function filled(random: Random, size: number, { pieces }: LineAims): string {
  const ending = random.pick(['', '!', 'b', 'ba', '\n', '\xff']);
  const room = Math.max(0, size - ending.length);
  switch (random.integer(0, 4)) {
    case 0:
      return repeated(random.pick(UNITS), room) + ending;
    case 1: {
      const unit = Array.from({ length: random.integer(1, 4) }, () => random.pick(pieces)).join(
        random.pick(['', '', ' ']),
      );
      return repeated(unit === '' ? 'a' : unit, room) + ending;
    }
    case 2: {
      let text = '';
      while (text.length < room) text += random.chance(0.7) ? random.pick(pieces) : random.pick(UNITS);
      return text.slice(0, room) + ending;
    }
    case 3: {
      const half = repeated(random.pick(pieces), room >> 1);
      return half + repeated(random.pick(UNITS), room - half.length) + ending;
    }
    default: {
      const alphabet = random.pick([128, 256, 95]);
      const low = alphabet === 95 ? 32 : 1;
      const codes = Uint8Array.from({ length: room }, () => low + random.integer(0, alphabet - low - 1));
      return Buffer.from(codes).toString('latin1') + ending;
    }
  }
}

function repeated(unit: string, size: number): string {
  return unit.repeat(Math.ceil(size / unit.length)).slice(0, size);
}

function json(random: Random, size: number, aims: LineAims): string {
  const room = Math.max(20, size - 40);
  const name = (): string =>
    random.chance(0.5) ? random.pick(aims.fields) : random.pick(['a', 'b', 'user', 'id', 'data.x']);
  const scalar = (): string =>
    random.pick([
      '1',
      '1.7',
      '9e307',
      '5e-324',
      '0.1234567890123456',
      'null',
      'true',
      '"x"',
      '"\\u0000"',
      '"\\\\\\""',
      '1e16',
      '-0',
    ]);
  switch (random.integer(0, 6)) {
    case 0: {
      let members = '';
      for (let i = 0; members.length < room; i += 1) {
        members += `"${name()}${random.chance(0.5) ? String(i) : ''}":${scalar()},`;
      }
      return `{${members}"z":1}`;
    }
    case 1: {
      const depth = random.integer(1, Math.min(1100, room / 12));
      const key = repeated(random.pick(['a', 'ab.', name()]), random.integer(1, Math.max(1, room / depth / 2)));
      return `{${`"${key}":{"b":${scalar()},`.repeat(depth)}"c":1${'}'.repeat(depth)}}`;
    }
    case 2:
      return `{"${name()}":[${repeated(`${scalar()},`, room)}1]}`;
    case 3: {
      const depth = random.integer(1, 1000);
      const inner = repeated(`"a":${scalar()},`, Math.max(0, room - 7 * depth));
      return `{"${name()}":[${'{"a":'.repeat(depth)}{${inner}"b":1}${'}'.repeat(depth)}]}`;
    }
    case 4:
      return `{"${name()}":"${filled(random, room, aims).replaceAll(/["\\]/g, '')}","${name()}":${scalar()}}`;
    case 5:
      return `{"${name()}":"${repeated(random.pick(['\\u00e9', '\\n', '\\ud83d\\ude00', '\\"']), room)}"}`;
    default:
      return `{"${repeated('.', room)}":1,"${name()}":${scalar()}`;
  }
}

function fim(random: Random, size: number): string {
  const rights = repeated('READ|WRITE|', size >> 2);
  return JSON.stringify({
    type: 'event',
    data: {
      path: repeated('/a', size >> 3),
      version: 2,
      mode: 'realtime',
      type: random.pick(['added', 'modified', 'deleted']),
      timestamp: 1,
      changed_attributes: Array.from({ length: Math.min(3000, size >> 4) }, () => 'size'),
      content_changes: repeated(random.pick(['a\n', '\x01', '< b']), size >> 3),
      tags: repeated('t,', size >> 4),
      attributes: {
        type: 'file',
        size: 13,
        perm: random.chance(0.5) ? rights : { 'S-1': { name: 'n', allowed: rights.split('|') } },
      },
      old_attributes: {
        type: 'file',
        size: 12,
        perm: random.chance(0.5) ? repeated('u (allowed): A|B, ', size >> 3) : 'x',
      },
    },
  });
}

function policyCheck(random: Random, size: number): string {
  const count = Math.min(4000, size >> 4);
  const compliance = Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${String(i)}`, '1,2']));
  const check = {
    id: random.integer(1, 50),
    title: 't',
    result: random.pick(['passed', 'failed']),
    compliance,
    file: repeated('a,', size >> 2),
  };
  return JSON.stringify({ type: 'check', id: random.integer(1, 9), policy: 'p', policy_id: 'p', check });
}

function windows(random: Random, size: number, aims: LineAims): string {
  const room = Math.max(10, size >> 1);
  const data = random.pick([
    repeated('<Data Name="a">b</Data>', room),
    repeated('<Data>x</Data>', room),
    repeated('<a>', room),
    repeated('<!-', room),
    repeated("<a b='c' d='", room),
    `<Data Name="${random.pick(aims.fields)}">${filled(random, room, aims).replaceAll(/[<>]/g, '')}</Data>`,
  ]);
  return JSON.stringify({
    Message: repeated('m "', room >> 3),
    Event: `<Event><System><EventID>7</EventID></System><EventData>${data}</EventData></Event>`,
  });
}
