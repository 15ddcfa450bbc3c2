import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { type ArrayMode, FieldWalker } from '../../../../../../lib/engine/decode/json/field-walker.js';
import { fieldNumberText } from '../../../../../../lib/engine/decode/json/number-text.js';
import { type JsonValue, parseJson, parseJsonObject } from '../../../../../../lib/engine/decode/json/parse-json.js';
import { bytes } from '../../../../../support/engine/decoding.js';

function fields(text: string, discardNulls = false, arrays: ArrayMode = 'array'): [string, string][] | undefined {
  return fieldsBy(new FieldWalker(), text, discardNulls, arrays);
}

function fieldsBy(
  walker: FieldWalker,
  text: string,
  discardNulls = false,
  arrays: ArrayMode = 'array',
): [string, string][] | undefined {
  if (!walker.walk(text, 0, discardNulls, arrays)) {
    return undefined;
  }
  return walker.names.slice(0, walker.count).map((name, i) => [name, walker.value(i)]);
}

/** Plain JavaScript value of what was parsed. */
function plain(value: JsonValue | undefined): unknown {
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([name, member]) => [name, plain(member)]));
  }
  return Array.isArray(value) ? value.map(plain) : value;
}

describe('lenient JSON', () => {
  const one = (value: string): string | undefined => fields(`{"k":${value}}`)?.[0]?.[1];

  it('writes numbers as the reference', () => {
    const rows: [string, string | undefined][] = [
      ['7', '7'],
      ['-3', '-3'],
      ['1e3', '1000'],
      ['1.5', '1.500000'],
      ['-0.0', '0'],
      ['5000000000', '5000000000.000000'],
      ['2147483647', '2147483647'],
      ['-2147483648', '-2147483648'],
      ['2147483648', '2147483648.000000'],
      ['1767670278669', '1767670278669.000000'],
      ['1766395900444555666', '1766395900444555776.000000'],
      ['0.0000001', '0.000000'],
      ['-0.0000001', '-0.000000'],
      ['0.0078125', '0.007812'],
      ['0.0234375', '0.023438'],
      ['-0.0078125', '-0.007812'],
      ['1e22', '10000000000000000000000.000000'],
      ['1e400', 'inf'],
      ['-1e400', '-inf'],
      ['01', '1'],
      ['1.', '1'],
      ['-.5', '-0.500000'],
      ['+1', undefined],
      ['.5', undefined],
      ['1e', undefined],
      ['-', undefined],
      ['0x10', undefined],
      ['1'.repeat(64), undefined],
    ];
    for (const [text, expected] of rows) {
      expect(one(text), text).to.equal(expected);
    }
    expect(one('1'.repeat(63))).to.match(/^1{15,}\d+\.000000$/);
    expect(fieldNumberText(123456789.125)).to.equal('123456789.125000');
  });

  it('reads strings with their escapes as bytes', () => {
    expect(one('"a\\"\\\\\\/\\b\\f\\n\\r\\t"')).to.equal('a"\\/\b\f\n\r\t');
    expect(one('"\\u00e9\\u20ac\\ud83d\\ude00"')).to.equal(bytes('é€😀'));
    expect(one(`"${bytes('é')}\n\t"`)).to.equal(`${bytes('é')}\n\t`);
    expect(one('"ab\\u0000cd"')).to.equal('ab');
    expect(one('"ab\\uzzzzcd"')).to.equal('ab');
    for (const bad of ['"\\x"', '"\\ud83d"', '"\\ude00"', '"\\ud83dx"', '"\\u12"', '"abc', '"\\']) {
      expect(one(bad), bad).to.equal(undefined);
    }
  });

  it('reads strings of short and long pieces between escapes as JSON.parse does', () => {
    const piece = fc.oneof(
      fc.constantFrom('\\n', '\\\\', '\\"', '\\/', '\\u00e9', '\\u20ac', '\\ud83d\\ude00', 'a', 'é'),
      fc.nat(100).map((length) => 'x'.repeat(length)),
    );
    const string = fc.array(piece, { maxLength: 30 }).map((pieces) => `"${pieces.join('')}"`);
    fc.assert(
      fc.property(string, string, (first, second) => {
        const expected = [first, second].map((each, i) => [`k${String(i)}`, bytes(JSON.parse(each) as string)]);
        expect(fields(bytes(`{"k0":${first},"k1":${second}}`))).to.deep.equal(expected);
      }),
    );
    // beyond what is kept for putting strings together
    const long = '\\n'.repeat(40_000) + 'y'.repeat(100_000);
    expect(one(`"${long}"`)).to.equal('\n'.repeat(40_000) + 'y'.repeat(100_000));
  });

  it('takes white space, a byte order mark, and anything behind the value', () => {
    expect(fields('\xef\xbb\xbf \x01\n{ "a" : 1 , "b" :{ } } trailing')).to.deep.equal([['a', '1']]);
    expect(fields(' \xef\xbb\xbf{}')).to.deep.equal([]);
    expect(fields('[1,2]')).to.deep.equal([]);
    expect(fields('"x"')).to.deep.equal([]);
    for (const bad of [
      '{',
      '{"a"}',
      '{"a":}',
      '{"a":1,}',
      '{a:1}',
      '{"a":tru}',
      '{"a":[1,]}',
      '{"a":1 "b":2}',
      '{"a":1',
    ]) {
      expect(fields(bad), bad).to.equal(undefined);
    }
  });

  it('joins names, keeps order and repeated names', () => {
    expect(fields('{"b":{"2":1,"1":{"x":"y"}},"b":3,"__proto__":{"a":4},"":5}')).to.deep.equal([
      ['b.2', '1'],
      ['b.1.x', 'y'],
      ['b', '3'],
      ['__proto__.a', '4'],
      ['', '5'],
    ]);
  });

  it('gives the same names whatever logs came before', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'a.b', '', '"', '\\', 'a"', 'x'.repeat(300), bytes('é'));
    const { object } = fc.letrec<{ value: unknown; object: object }>((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, fc.constantFrom('v', 1, null), tie('object')),
      object: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    }));
    const log = fc.tuple(object, fc.constantFrom(0, 1)).map(([value, space]) => JSON.stringify(value, null, space));
    fc.assert(
      fc.property(fc.array(log, { maxLength: 12 }), (logs) => {
        const walker = new FieldWalker();
        for (const each of [...logs, ...logs]) expect(fieldsBy(walker, each), each).to.deep.equal(fields(each));
      }),
    );
  });

  it('keeps names apart that only look the same', () => {
    const walker = new FieldWalker();
    const names = (text: string): (string | undefined)[] | undefined => fieldsBy(walker, text)?.map(([name]) => name);
    expect(names('{"a":{"b":1,"c":2},"d":3}')).to.deep.equal(['a.b', 'a.c', 'd']);
    expect(names('{"a":{"b":1},"c":2,"d":3}')).to.deep.equal(['a.b', 'c', 'd']);
    expect(names('{"a":{"b":1,"cc":2},"dd":3}')).to.deep.equal(['a.b', 'a.cc', 'dd']);
    expect(names('{"\\u0061" : {"b" :1,"c":2},"d":3}')).to.deep.equal(['a.b', 'a.c', 'd']);
    expect(names('{"a":{"b\\"":1}}')).to.deep.equal(['a.b"']);
    expect(names('{"a":{"b\\":":1}}')).to.deep.equal(['a.b":']);
    expect(names('{"a"}'), 'no value').to.equal(undefined);
  });

  it('reads names right beyond what is kept of them', () => {
    const walker = new FieldWalker();
    // more new names in one log than are kept, and more bytes of names than are kept
    for (let log = 0; log < 60; log += 1) {
      const keys = Array.from({ length: 300 }, (_, i) => `${'n'.repeat(200)}${String(log)}.${String(i)}`);
      const text = `{"o":{${keys.map((name) => `"${name}":1`).join(',')}},"p":2}`;
      const expected = [...keys.map((name) => `o.${name}`), 'p'];
      for (let again = 0; again < 2; again += 1) {
        const found = fieldsBy(walker, text)?.map(([name]) => name) ?? [];
        if (found.join('|') !== expected.join('|')) expect.fail(`log ${String(log)}`);
      }
    }
  });

  it('keeps no names that are not looked for, behind names that are', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const walker = new FieldWalker();
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let log = 0; log < 400; log += 1) {
      const long = Array.from({ length: 100 }, (_, i) => `"${'n'.repeat(300)}${String(log * 100 + i)}":1`);
      walker.walk(Buffer.from(`{"k${String(log)}":1,${long.join(',')}}`).toString('latin1'), 0, false, 'array');
      expect(walker.count).to.equal(101);
    }
    collect();
    expect(process.memoryUsage().heapUsed - before).to.be.below(2 * 1024 * 1024);
  });

  it('writes arrays as text, lists or not at all', () => {
    const text = '{"a":[],"b":[1, "x\\n",null,true,2.5,5e20],"c":[{"a":1,"b":{}},[{}]]}';
    expect(fields(text)).to.deep.equal([
      ['a', '[]'],
      ['b', '[1, "x\\n", null, true, 2.5, 5e+20]'],
      ['c', '[{\n\t\t"a":\t1,\n\t\t"b":\t{\n\t\t}\n\t}, [{\n\t\t}]]'],
    ]);
    expect(fields(text, false, 'csv')).to.deep.equal([['b', '1,x\n,null,true,2.500000,500000000000000000000.000000']]);
    expect(fields('{"a":["a",{}],"b":[{},"b"],"c":[[1]]}', false, 'csv')).to.deep.equal([['a', 'a,'], ['b', 'b']]); // oxfmt-ignore
    expect(fields(`{"a":["${'x'.repeat(65535)}"]}`, false, 'csv')).to.have.length(1);
    expect(fields(`{"a":["${'x'.repeat(65536)}"]}`, false, 'csv')).to.deep.equal([]);
    expect(fields(text, false, 'discard')).to.deep.equal([]);
  });

  it('leaves nulls out when told to', () => {
    expect(fields('{"a":null,"b":[null]}', true)).to.deep.equal([['b', '[null]']]);
  });

  it('reads 1000 levels and not more', () => {
    const nested = (n: number): string => `${'{"a":'.repeat(n)}1${'}'.repeat(n)}`;
    expect(fields(nested(1000))?.[0]?.[0]).to.have.length(1999);
    expect(fields(nested(1001))).to.equal(undefined);
    expect(fields(`{"a":${'['.repeat(999)}${']'.repeat(999)}}`)).to.have.length(1);
    expect(fields(`{"a":${'['.repeat(100_000)}`)).to.equal(undefined);
  });

  it('parses what JSON.parse takes to the same value', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const expected: unknown = JSON.parse(text.replaceAll('\\u0000', ''));
        const got = plain(parseJson(bytes(text.replaceAll('\\u0000', ''))));
        const utf8 = (value: unknown): unknown =>
          JSON.parse(Buffer.from(JSON.stringify(value), 'latin1').toString('utf8'));
        expect(utf8(got)).to.deep.equal(JSON.parse(JSON.stringify(expected)));
      }),
      { numRuns: 500 },
    );
  });

  it('keeps the first of equal members, and takes only objects for objects', () => {
    expect(parseJsonObject('{"a":1,"a":2}')?.get('a')).to.equal(1);
    expect(parseJsonObject('[1]')).to.equal(undefined);
    expect(parseJson('x')).to.equal(undefined);
  });

  it('never fails, and gives the same again', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"',
      '"a"',
      '\\',
      '\\u',
      'd83d',
      'de00',
      '0',
      '-1.5e3',
      'true',
      'null',
      ' ',
      '\n',
      '\xef\xbb\xbf',
      '\xff',
      '{"a":',
      '"b"',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 25 }),
        fc.constantFrom<ArrayMode>('array', 'csv', 'discard'),
        (pieces, mode) => {
          const text = pieces.join('');
          expect(fields(text, false, mode)).to.deep.equal(fields(text, false, mode));
          expect(parseJson(text) === undefined || fields(text) !== undefined || !text.includes('{')).to.equal(true);
        },
      ),
      { numRuns: 5000 },
    );
  });

  it('takes linear time on hostile texts', () => {
    // Quadratic time would end in mocha's time-out.
    expect(fields(`{"a":"${'\\u0041'.repeat(300_000)}"}`)).to.deep.equal([['a', 'A'.repeat(300_000)]]);
    expect(fields(`{"a":"${'\\n'.repeat(1_000_000)}"}`)).to.deep.equal([['a', '\n'.repeat(1_000_000)]]);
    expect(fields(`{${'"a":"b",'.repeat(300_000)}"c":1}`))
      .to.have.length(300_001)
      .and.property('300000')
      .that.deep.equals(['c', '1']);
  });
});
