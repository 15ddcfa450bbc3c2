import { expect } from 'chai';
import fc from 'fast-check';
import { AddressBlock } from '../../../../api/http/address-block.js';
import { JsonDepth, MAX_JSON_DEPTH } from '../../../../api/http/json-depth.js';
import { jsonText } from '../../../../api/http/json-text.js';
import { pythonSet, pythonText } from '../../../../api/http/python-text.js';
import { RateLimit } from '../../../../api/http/rate-limit.js';
import { parseRequestTarget } from '../../../../api/http/request-target.js';

describe('rate limit', () => {
  it('admits the limit in the first window and one more in later ones', () => {
    let now = 5;
    const limit = new RateLimit(3, () => now);
    const admitted = (count: number) => Array.from({ length: count }, () => limit.admit());
    expect(admitted(4)).to.deep.equal([true, true, true, false]);
    now += 60_000;
    expect(limit.admit(), 'exactly 60 s is still the window').to.equal(false);
    expect(limit.retryAfter()).to.equal(1);
    now += 1;
    expect(admitted(5)).to.deep.equal([true, true, true, true, false]);
    expect(limit.retryAfter()).to.equal(60);
  });
});

describe('address block', () => {
  it('vanishes after the time from the first failure, whatever came later', () => {
    let now = 0;
    const block = new AddressBlock(2, 10, () => now);
    expect(block.recordFailure('a')).to.equal(false);
    now = 9_000;
    expect(block.recordFailure('a')).to.equal(true);
    expect(block.isBlocked('a')).to.equal(true);
    expect(block.isBlocked('b')).to.equal(false);
    now = 10_000;
    expect(block.isBlocked('a')).to.equal(false);
    expect(block.recordFailure('a')).to.equal(false);
  });

  it('takes an IPv6 network of /64 for one address', () => {
    const block = new AddressBlock(3, 10, () => 0);
    expect(['2001:db8::1', '2001:db8::2', '2001:db8::3'].map((address) => block.recordFailure(address))).to.deep.equal([
      false,
      false,
      true,
    ]);
    expect(block.isBlocked('2001:db8::ffff')).to.equal(true);
    expect(block.isBlocked('2001:db8:0:1::1')).to.equal(false);
    expect(block.isBlocked('192.0.2.1')).to.equal(false);
  });

  it('remembers a limited number of addresses', () => {
    const block = new AddressBlock(1, 10, () => 0);
    for (let number = 0; number <= 100_000; number += 1) block.recordFailure(`a${number}`);
    expect(block.isBlocked('a0')).to.equal(false);
    expect(block.isBlocked('a1')).to.equal(true);
  });
});

describe('depth of JSON', () => {
  const tooDeep = (text: string, cut = text.length) => {
    const depth = new JsonDepth();
    depth.add(Buffer.from(text.slice(0, cut)));
    depth.add(Buffer.from(text.slice(cut)));
    return depth.tooDeep;
  };

  it('counts brackets outside of strings', () => {
    expect(tooDeep('['.repeat(MAX_JSON_DEPTH))).to.equal(false);
    expect(tooDeep('['.repeat(MAX_JSON_DEPTH + 1), 100)).to.equal(true);
    expect(tooDeep(`"${'['.repeat(9999)}"`, 7)).to.equal(false);
    expect(tooDeep(`"\\"${'['.repeat(9999)}`, 2)).to.equal(false);
    expect(tooDeep('[]{}'.repeat(9999))).to.equal(false);
  });
});

describe('JSON text', () => {
  it('is on one line with blanks, ASCII, and means the same', () => {
    expect(jsonText({ a: [1, 'x,\n y'], b: {}, ü: '\u{1f600}' }, false)).to.equal(
      '{"a": [1, "x,\\n y"], "b": {}, "\\u00fc": "\\ud83d\\ude00"}',
    );
    expect(jsonText({ a: [1] }, true)).to.equal('{\n   "a": [\n      1\n   ]\n}');
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(jsonText(value, false))).to.deep.equal(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('values in validation texts', () => {
  const cases: [unknown, string][] = [
    ['abc', "'abc'"],
    ["it's", '"it\'s"'],
    [`'"`, `'\\'"'`],
    ['a\\b\n\t\u0000\u0085', "'a\\\\b\\n\\t\\x00\\x85'"],
    [true, 'True'],
    [null, 'None'],
    [1.5, '1.5'],
    [{ a: 1, b: ['x', false] }, "{'a': 1, 'b': ['x', False]}"],
    [[], '[]'],
  ];
  for (const [value, text] of cases) it(text, () => expect(pythonText(value)).to.equal(text));

  it('are cut when they are long or deep', () => {
    expect(pythonText('x'.repeat(1_000_000)).length).to.be.lessThan(600);
    expect(pythonText(Array(1000).fill(0)).length).to.be.lessThan(200);
    expect(pythonText(JSON.parse('[['.repeat(200) + ']]'.repeat(200)))).to.include('...');
    expect(pythonSet(['a', 'b'])).to.equal("{'a', 'b'}");
  });
});

describe('request target', () => {
  it('is taken apart, also in the form that proxies send', () => {
    const parse = (target: string) => {
      const { path, query } = parseRequestTarget(target);
      return [path, query.toString()];
    };
    expect(parse('/a/b?c=1;d&c=%2B')).to.deep.equal(['/a/b', 'c=1%3Bd&c=%2B']);
    expect(parse('https://host:1/a')).to.deep.equal(['/a', '']);
    expect(parse('http://host?x=1')).to.deep.equal(['/', 'x=1']);
    expect(parse('/a%2Fb%zz')).to.deep.equal(['/a%2Fb%zz', '']);
    expect(parse('/a%2Fb%0A')).to.deep.equal(['/a/b\n', '']);
  });
});
