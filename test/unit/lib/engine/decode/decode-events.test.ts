import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import type { DecodingStep } from '../../../../../lib/engine/decode/interpret-decoders.js';
import { compilePattern } from '../../../../../lib/patterns/compile-pattern.js';
import { bytes, decodedOf, DecodingBench } from '../../../../support/engine/decoding.js';
import { sharedData } from '../../../../support/shared-data.js';

const HEADER = 'Mar  7 09:15:02 gate ';

function root(inside: string, name = 'r'): string {
  return `<decoder name="${name}">${inside}</decoder>`;
}

function child(inside: string, name: string, parent = 'r'): string {
  return `<decoder name="${name}"><parent>${parent}</parent>${inside}</decoder>`;
}

function regex(source: string, order: string, offset?: string): string {
  return `<regex${offset === undefined ? '' : ` offset="${offset}"`}>${source}</regex><order>${order}</order>`;
}

describe('decoding events', () => {
  /** Both ways must agree; gives the one result. */
  function decode(xml: string, message: string, location?: string): unknown {
    const bench = new DecodingBench(xml);
    const fast = decodedOf(bench.decode(bytes(message), location));
    expect(decodedOf(bench.interpret(bytes(message), location))).to.deep.equal(fast);
    return fast;
  }

  describe('worked examples', () => {
    it('child with prematch', () => {
      const xml =
        root('<program_name>^doord$</program_name>', 'acme-door') +
        child(
          `<prematch offset="after_parent">^door opened</prematch>${regex(
            '^ by (\\S+) from (\\S+):(\\d+)',
            'user, srcip, srcport',
            'after_prematch',
          )}`,
          'acme-door-open',
          'acme-door',
        );
      expect(decode(xml, `${HEADER}doord[812]: door opened by alice from 10.1.2.3:5544`)).to.deep.equal({
        decoder: 'acme-door',
        parent: 'acme-door',
        category: 'syslog',
        static: { srcip: '10.1.2.3', srcport: '5544', dstuser: 'alice' },
        fields: [],
      });
    });

    const chain = (...offsets: (string | undefined)[]): string =>
      root('<prematch>^ACME:</prematch>', 'acme-kv') +
      child(regex('user=(\\S+)', 'dstuser', offsets[0]), 'acme-kv', 'acme-kv') +
      child(regex('ip=(\\S+)', 'srcip', offsets[1]), 'acme-kv', 'acme-kv') +
      child(regex('door=(\\d+)', 'door.id', offsets[2]), 'acme-kv', 'acme-kv');

    it('chained siblings, fields in any order', () => {
      expect(decode(chain(), 'ACME: user=bob door=7 ip=10.0.0.9')).to.deep.equal({
        decoder: 'acme-kv',
        category: 'syslog',
        static: { srcip: '10.0.0.9', dstuser: 'bob' },
        fields: [['door.id', '7']],
      });
    });

    it('chained siblings with offsets', () => {
      const xml = chain('after_parent', 'after_regex', 'after_regex');
      expect(decode(xml, 'ACME: user=bob door=7 ip=10.0.0.9')).to.deep.include({
        static: { srcip: '10.0.0.9', dstuser: 'bob' },
        fields: [],
      });
    });

    it('imprecise continuation', () => {
      const xml = (first: string): string =>
        root('<prematch>^ACME:</prematch>') +
        child(regex(first, 'id', 'after_parent'), 'c') +
        child(regex('(\\S+)', 'extra_data', 'after_regex'), 'c');
      const message = 'ACME: id=1234 tail';
      expect(decode(xml('id=(\\d+)'), message)).to.deep.include({ static: { id: '1234', extra_data: '234' } });
      expect(decode(xml('id=(\\d+) '), message)).to.deep.include({ static: { id: '1234', extra_data: 'tail' } });
    });

    it('skipped byte', () => {
      const xml = root('<prematch>^ACME\\d+</prematch>') + child(regex('(\\S+)', 'extra_data', 'after_parent'), 'c');
      expect(decode(xml, 'ACME77 abc def')).to.deep.include({ static: { extra_data: 'abc' } });
      expect(decode(xml, 'ACME77')).to.deep.include({ static: { extra_data: '7' } });
    });

    it('unreachable sibling', () => {
      const xml =
        root('<prematch>^pump </prematch>', 'pump') +
        child(regex('^alpha (\\S+)', 'id', 'after_parent'), 'p', 'pump') +
        child(regex('^beta (\\S+)', 'id', 'after_parent'), 'q', 'pump');
      expect(decode(xml, 'pump beta 42')).to.deep.equal({
        decoder: 'pump',
        category: 'syslog',
        static: {},
        fields: [],
      });
      expect(decode(xml, 'pump alpha 42')).to.deep.include({ static: { id: '42' } });
    });

    const JSON_ROOT = '<prematch>^{</prematch><plugin_decoder>JSON_Decoder</plugin_decoder>';

    it('program names separate', () => {
      const xml = root(JSON_ROOT, 'acme-json');
      expect(decode(xml, '{"a":1}')).to.deep.include({ decoder: 'acme-json', fields: [['a', '1']] });
      expect(decode(xml, `${HEADER}doord: {"a":1}`)).to.not.have.property('decoder');
      const both = xml + root('<program_name>^doord$</program_name><plugin_decoder>JSON_Decoder</plugin_decoder>', 'b');
      expect(decode(both, `${HEADER}doord: {"a":1}`)).to.deep.include({ decoder: 'b', fields: [['a', '1']] });
    });

    const LOG =
      '{"user":"ann","srcip":"10.0.0.1","n":5000000000,"f":1.5,"ok":true,"z":null,"tags":["a","b"],' +
      '"sub":{"id":7,"l":[{"k":1}]},"id":"E1"}';

    it('JSON', () => {
      expect(decode(root(JSON_ROOT), LOG)).to.deep.include({
        static: { srcip: '10.0.0.1', dstuser: 'ann', id: 'E1' },
        fields: [
          ['n', '5000000000.000000'],
          ['f', '1.500000'],
          ['ok', 'true'],
          ['z', 'null'],
          ['tags', '["a", "b"]'],
          ['sub.id', '7'],
          ['sub.l', '[{\n\t\t"k":\t1\n\t}]'],
        ],
      });
      const csv = `${JSON_ROOT}<json_array_structure>csv</json_array_structure><json_null_field>discard</json_null_field>`;
      expect(decode(root(csv), LOG)).to.have.deep.property('fields', [
        ['n', '5000000000.000000'],
        ['f', '1.500000'],
        ['ok', 'true'],
        ['tags', 'a,b'],
        ['sub.id', '7'],
      ]);
    });

    it('alternation and missing captures', () => {
      const xml = root('<prematch>^K </prematch>') + child(regex('key=(\\w*);|key=(\\w*)', 'acme.key'), 'c');
      expect(decode(xml, 'K key=;')).to.have.deep.property('fields', [['acme.key', '']]);
      expect(decode(xml, 'K key=')).to.have.deep.property('fields', []);
      expect(decode(xml, 'K key=ab x')).to.have.deep.property('fields', [['acme.key', 'ab']]);
    });
  });

  describe('selection', () => {
    it('stays with the first root that matches, in load order', () => {
      const xml = root('<prematch>^x</prematch>', 'one') + root('<prematch>^x y</prematch>', 'two');
      expect(decode(xml, 'x y')).to.have.property('decoder', 'one');
      const named =
        root('<program_name>^do</program_name><prematch>^no</prematch>', 'one') +
        root('<program_name>doord</program_name>', 'two');
      expect(decode(named, `${HEADER}doord: yes`)).to.have.property('decoder', 'two');
    });

    it('never runs the regex of a root with children', () => {
      const xml = root(`<prematch>^x</prematch>${regex('(\\d)', 'id')}`) + child('<prematch>zzz</prematch>', 'c');
      expect(decode(xml, 'x 1')).to.deep.include({ decoder: 'r', static: {} });
      expect(decode(root(`<prematch>^x</prematch>${regex('(\\d)', 'id', 'after_prematch')}`), 'x 1')).to.deep.include({
        static: { id: '1' },
      });
    });

    it('skips a chain with its first member', () => {
      const xml =
        root('<prematch>^x</prematch>') +
        child(`<prematch>^never</prematch>${regex('(\\d)', 'id')}`, 'c') +
        child(regex('(\\d)', 'status'), 'c') +
        child(regex('(\\w)', 'url'), 'd');
      expect(decode(xml, 'x 1')).to.deep.include({ static: { url: 'x' } });
    });

    it('walks a chain by position, through other names', () => {
      const xml =
        root('<prematch>^x</prematch>') +
        child(regex('^nothing(\\d)', 'id'), 'c') +
        child(regex('(\\d)', 'status'), 'other') +
        child(regex('(\\d)', 'url'), 'c');
      // `other` has no chain flag of its own: what is behind it is not reached.
      expect(decode(xml, 'x 1')).to.deep.include({ static: { status: '1' } });
    });

    it('takes type, options and name from the decoder that is selected', () => {
      const xml =
        root('<prematch>^x</prematch><type>firewall</type><ftscomment>seen</ftscomment>') +
        child('<prematch>^x a</prematch><type>ids</type><use_own_name>true</use_own_name><accumulate/>', 'own') +
        child(`${regex('(\\d)', 'id')}<type>squid</type>`, 'c');
      expect(decode(xml, 'x a')).to.deep.include({ decoder: 'own', parent: 'r', category: 'ids' });
      expect(decode(xml, 'x 1')).to.deep.include({ decoder: 'r', category: 'firewall', static: { id: '1' } });
      const event = new DecodingBench(xml).decode('x a');
      expect([event.decoder?.accumulate, event.decoder?.ftscomment]).to.deep.equal([true, undefined]);
      expect(new DecodingBench(xml).decode('x 1').decoder?.ftscomment).to.equal('seen');
    });

    it('reads a child of several roots from the root at hand', () => {
      const xml =
        root('<prematch>^a </prematch>') +
        root('<prematch>^bbb </prematch>') +
        child(regex('(\\S+)', 'id', 'after_parent'), 'c');
      expect(decode(xml, 'a one')).to.deep.include({ static: { id: 'one' } });
      expect(decode(xml, 'bbb two')).to.deep.include({ static: { id: 'two' } });
    });

    it('runs a plugin behind the prematch of a child or of the root', () => {
      const plugin = '<plugin_decoder offset="after_prematch">JSON_Decoder</plugin_decoder>';
      const inChild = root('<prematch>^x </prematch>') + child(`<prematch>^x y </prematch>${plugin}`, 'c');
      expect(decode(inChild, 'x y {"a":1}')).to.have.deep.property('fields', [['a', '1']]);
      expect(decode(root(`<prematch>^x </prematch>${plugin}`), 'x {"a":1}')).to.have.deep.property('fields', [
        ['a', '1'],
      ]);
    });

    it('lets no event have more fields than there is room for', () => {
      const xml =
        root('<prematch>^x</prematch>') +
        child(
          regex(
            Array.from({ length: 32 }, () => '(\\d)').join(' '),
            Array.from({ length: 32 }, (_, i) => `f${String(i)}`).join(','),
          ),
          'c',
        ) +
        child(regex('(\\d)', 'id'), 'c');
      const bench = new DecodingBench(xml, { orderSize: 32 });
      const event = bench.decode(`x ${'1 '.repeat(40)}`);
      expect([event.fieldNames.length, event.id]).to.deep.equal([32, undefined]);
      expect(bench.diagnostics.lines).to.deep.equal(['error Regex has too many groups. @test.xml:1']);
    });

    it('tells the steps', () => {
      const xml =
        root('<prematch>^other</prematch>', 'no') +
        root('<prematch>^x </prematch>') +
        child('<prematch offset="after_parent">^b</prematch>', 'b') +
        child(`<prematch offset="after_parent">^a</prematch>${regex(' (\\d)', 'id', 'after_prematch')}`, 'a');
      const steps: string[] = [];
      new DecodingBench(xml).interpret('x a 1', undefined, (step: DecodingStep) => {
        steps.push(
          `${step.decoder.ownName} ${step.what} ${String(step.from)} ${String(step.matched)} ${String(step.next)}`,
        );
      });
      expect(steps).to.deep.equal([
        'no prematch 0 false undefined',
        'r prematch 0 true 2',
        'r selected 0 true undefined',
        'b prematch 2 false undefined',
        'a prematch 2 true 3',
        'a selected 0 true undefined',
        'a regex 3 true 5',
      ]);
    });
  });

  describe('the index', () => {
    it('gives what the plain interpreter gives, for made-up decoders', () => {
      const piece = fc.constantFrom(
        'a',
        'b',
        '1',
        ' ',
        ':',
        '\\d',
        '\\w+',
        '\\.*',
        '\\s',
        '\\D',
        '\\S*',
        '\\p',
        '\\(',
        '|^',
        '$',
        '\\W*',
        '\xe9',
      );
      const source = fc.array(piece, { maxLength: 5 }).map((parts) => `^${parts.join('')}`);
      const anchored = fc.tuple(fc.boolean(), source).map(([anchor, text]) => (anchor ? text : text.slice(1)));
      const subject = fc
        .array(fc.constantFrom('a', 'b', '1', ' ', ':', '(', 'A', '^', '\xe9', '|'), { maxLength: 6 })
        .map((p) => p.join(''));
      fc.assert(
        fc.property(
          fc.array(fc.tuple(anchored, fc.boolean()), { minLength: 1, maxLength: 6 }),
          fc.array(subject, { maxLength: 8 }),
          (roots, subjects) => {
            const xml = roots
              .filter(([text]) => compiles(text))
              .map(([text, named], i) =>
                root(
                  `${named ? '<program_name>d</program_name>' : ''}<prematch>${text.replaceAll('<', '\\<')}</prematch>`,
                  `r${String(i)}`,
                ),
              )
              .join('');
            if (xml === '') {
              return;
            }
            const bench = new DecodingBench(xml);
            for (const text of subjects) {
              for (const message of [text, `${HEADER}doord: ${text}`, `${HEADER}x: ${text}`]) {
                expect(decodedOf(bench.decode(message))).to.deep.equal(decodedOf(bench.interpret(message)));
              }
            }
          },
        ),
        { numRuns: 400 },
      );
    });

    it('forgets program names in a flood of them', () => {
      const bench = new DecodingBench(
        root('<program_name>^p1\\d*$</program_name>'.replace('\\d*', '')) + root('<program_name>9</program_name>', 's'),
      );
      for (let i = 0; i < 5000; i += 1) {
        const event = bench.decode(`${HEADER}p${String(i)}: x`);
        expect(event.decoder?.name).to.equal(i === 1 ? 'r' : String(i).includes('9') ? 's' : undefined);
      }
    });
  });

  describe('the public ruleset', () => {
    const decoders = sharedData('ruleset', 'decoders');
    const sample = sharedData('oracle-sample.ndjson.gz');
    type Record = {
      location: string;
      log?: string;
      log_b64?: string;
      expect: { decoder: string | null; parent: string | null };
    };

    it('decodes recorded lines as the reference, the same way each time', function () {
      if (decoders === undefined || sample === undefined) {
        this.skip();
      }
      const sources = readdirSync(decoders)
        .sort()
        .map((path) => ({ path, content: readFileSync(`${decoders}/${path}`, 'latin1') }));
      const bench = new DecodingBench(sources);
      const records = gunzipSync(readFileSync(sample))
        .toString('utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record);
      for (const { location, log, log_b64, expect: expected } of records) {
        const message = log_b64 === undefined ? bytes(log ?? '') : Buffer.from(log_b64, 'base64').toString('latin1');
        const decoded = decodedOf(bench.decode(message, location));
        expect([decoded.decoder ?? null, decoded.parent ?? null], log).to.deep.equal([
          expected.decoder,
          expected.parent,
        ]);
        expect(decodedOf(bench.interpret(message, location))).to.deep.equal(decoded);
        expect(decodedOf(bench.decode(message, location))).to.deep.equal(decoded);
      }
    });

    it('never fails, whatever comes', function () {
      if (decoders === undefined) {
        this.skip();
      }
      const sources = readdirSync(decoders)
        .sort()
        .map((path) => ({ path, content: readFileSync(`${decoders}/${path}`, 'latin1') }));
      const bench = new DecodingBench(sources);
      const piece = fc.constantFrom(
        HEADER,
        'sshd[1]: ',
        '{"a":',
        '"',
        '[',
        ']',
        '}',
        '%ASA-',
        'date=2020-01-01 time=',
        ' ',
        'x',
        '7',
        '/',
        '\\',
        '\xff',
        'id=',
        'type=',
        'ossec: Alert Level: 3; Rule: 1 - x; Location: y; ',
      );
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
          const message = pieces.join('');
          expect(decodedOf(bench.decode(message))).to.deep.equal(decodedOf(bench.interpret(message)));
        }),
        { numRuns: 400 },
      );
    });
  });
});

function compiles(source: string): boolean {
  try {
    compilePattern('osregex', source);
    return true;
  } catch {
    return false;
  }
}
