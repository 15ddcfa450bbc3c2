import { expect } from 'chai';
import type { DecoderSet } from '../../../../../lib/engine/decode/decoder-set.js';
import { loadDecoders } from '../../../../../lib/engine/load/load-decoders.js';
import type { PatternCompiler } from '../../../../../lib/engine/load/pattern-compiler.js';
import { RulesetError } from '../../../../../lib/engine/load/ruleset-error.js';
import { RecordingDiagnostics } from '../../../../support/recording-diagnostics.js';

/** Compiles everything but `BAD`; loading never matches. */
const compilePattern: PatternCompiler = (language, source) => {
  if (source.includes('BAD')) {
    throw new Error('no good');
  }
  return { language, source, requirements: undefined, cost: 'linear', test: () => false, exec: () => false };
};

type Outcome = { set?: DecoderSet; lines: string[]; place?: string };

function load(content: string, path = 'etc/decoders/t.xml', orderSize?: number): Outcome {
  const diagnostics = new RecordingDiagnostics();
  try {
    const options = { diagnostics, compilePattern, ...(orderSize === undefined ? {} : { orderSize }) };
    return { set: loadDecoders([{ path, content }], options), lines: diagnostics.lines };
  } catch (error) {
    expect(error).to.be.instanceOf(RulesetError);
    const { place } = error as RulesetError;
    return { lines: diagnostics.lines, place: `${place.file}:${String(place.line)}` };
  }
}

const ROOT = '<decoder name="r"><prematch>^r</prematch></decoder>';
const CHILD = (inside: string, name = 'c'): string =>
  `${ROOT}\n<decoder name="${name}">\n<parent>r</parent>${inside}</decoder>`;
const OF = (inside: string, name = 'd'): string => `<decoder name="${name}">${inside}</decoder>`;
const REGEX = '<regex>(x)</regex><order>user</order>';

describe('loadDecoders', () => {
  describe('refuses', () => {
    const at = (line: number, ...texts: string[]): string[] =>
      texts.map((text) => `error ${text} @etc/decoders/t.xml:${String(line)}`);
    const error = (name: string): string => `(2107): Decoder configuration error: '${name}'.`;
    const rows: [string, string, string[]][] = [
      ['bad XML', '<decoder name="x">\n</a>', at(2, "(1226): Error reading XML file 'etc/decoders/t.xml': XMLERR: Element 'decoder' not closed. (line 2).")],
      ['a bad variable', `<var name="V">1</var>\n${OF('<prematch>$none</prematch>')}`, at(2, "(1227): Error applying XML variables 'etc/decoders/t.xml': XMLERR: Unknown variable: 'none'..")],
      ['an empty file', '', at(0, "(1202): Configuration error at 'etc/decoders/t.xml'.")],
      ['a file of comments', '<!-- -->\n', at(0, '(1231): Invalid NULL element in the configuration.')],
      ['another root element', '<rule/>', at(1, "(1230): Invalid element in the configuration: 'rule'.")],
      ['a decoder without name', '<decoder id="1"><prematch>x</prematch></decoder>', at(1, "(1230): Invalid element in the configuration: 'decoder'.")],
      ['a decoder with more attributes', '<decoder name="1" x="2"><prematch>x</prematch></decoder>', at(1, "(1230): Invalid element in the configuration: 'decoder'.")],
      ['a decoder with three attributes', '<decoder name="1" status="2" x="">y</decoder>', at(1, "(1230): Invalid element in the configuration: 'decoder'.")],
      ['a decoder without elements', '<decoder name="1">x</decoder>', at(1, '(1231): Invalid NULL element in the configuration.')],
      ['an unknown element', OF('<prematch>x</prematch><level>1</level>'), at(1, "Invalid element 'level' for decoder 'decoder'")],
      ['type in upper case', OF('<prematch>x</prematch><Type>ids</Type>'), at(1, "Invalid element 'Type' for decoder 'decoder'")],
      ['an unknown type', OF('<prematch>x</prematch><type>IDS</type>'), at(1, "Invalid decoder type 'IDS'.")],
      ['nothing to select it by', OF(REGEX), at(1, "(2108): No 'prematch' found in decoder: 'd'.", error('d'))],
      ['regex without order', OF('<prematch>x</prematch><regex>(x)</regex>'), at(1, error('d'))],
      ['order without regex', OF('<prematch>x</prematch><order>user</order>'), at(1, error('d'))],
      ['fts without regex', OF('<prematch>x</prematch><fts>name</fts>'), at(1, error('d'))],
      ['regex after_parent on a root', OF('<prematch>x</prematch><regex offset="after_parent">(x)</regex><order>user</order>'), at(1, "(2120): Invalid offset value: 'after_parent'", error('d'))],
      ['regex after_regex on a root', OF('<prematch>x</prematch><regex offset="AFTER_regex">(x)</regex><order>user</order>'), at(1, "(2120): Invalid offset value: 'after_regex'", error('d'))],
      ['regex after_prematch without one', CHILD('<regex offset="after_prematch">(x)</regex><order>user</order>'), at(2, "(2120): Invalid offset value: 'after_prematch'", error('c'))],
      ['prematch after_regex', CHILD('<prematch offset="after_regex">x</prematch>'), at(2, error('c'))],
      ['prematch after_parent on a root', OF('<prematch offset="after_parent">x</prematch>'), at(1, "(2120): Invalid offset value: 'after_parent'", error('d'))],
      ['plugin after_parent on a root', OF('<prematch>x</prematch><plugin_decoder offset="after_parent">JSON_Decoder</plugin_decoder>'), at(1, "(2120): Invalid offset value: 'after_parent'", error('d'))],
      ['plugin after_prematch without one', CHILD('<plugin_decoder offset="after_prematch">JSON_Decoder</plugin_decoder>'), at(2, "(2120): Invalid offset value: 'after_prematch'", error('c'))],
      ['a wrong plugin offset', CHILD('<plugin_decoder offset="x">JSON_Decoder</plugin_decoder>'), at(2, error('c'))],
      ['an unknown plugin', OF('<prematch>x</prematch><plugin_decoder>json_decoder</plugin_decoder>'), at(1, "(2110): Invalid decoder argument for plugin_decoder: 'json_decoder'.")],
      ['a bad pattern', OF('<prematch>xBAD</prematch>'), at(1, "(1452): Syntax error on regex: 'xBAD'", error('d'))],
      ['a plugin with a regex', OF(`<prematch>x</prematch>${REGEX}<plugin_decoder>JSON_Decoder</plugin_decoder>`), at(1, "(2111): Additional data to plugin decoder: 'd'.")],
      ['two offsets', CHILD('<prematch>x</prematch><regex offset="after_parent">x</regex><regex offset="after_parent">(x)</regex><order>user</order>'), at(3, "(2109): Duplicated offsets for same regex: 'c'.", error('c'))],
      ['an empty order word', OF('<prematch>x</prematch><regex>(x)</regex><order>user,, id</order>'), at(1, "decode-xml: Wrong field '' in the order of decoder 'd'")],
      ['a wrong fts word', OF('<prematch>x</prematch><regex>(x)</regex><order>user, dyn</order><fts>dyn</fts>'), at(1, "decode-xml: Wrong field 'dyn' in the fts decoder 'd'")],
      ['an unknown parent', OF('<parent>zz</parent>'), at(1, "(2101): Parent decoder name invalid: 'zz'.", '(2106): Error adding decoder plugin.')],
      ['a child as parent', `${CHILD(REGEX)}${OF('<parent>c</parent>')}`, at(3, "(2101): Parent decoder name invalid: 'c'.", '(2106): Error adding decoder plugin.')],
      ['a duplicate with prematch', `${CHILD(REGEX)}${OF(`<parent>r</parent><prematch>x</prematch>${REGEX}`, 'c')}`, at(3, "(2102): Duplicated decoder with prematch: 'c'.", '(2105): Error loading decoder options.', '(2106): Error adding decoder plugin.')],
      ['a duplicate with fts', `${CHILD(REGEX)}${OF(`<parent>r</parent>${REGEX}<fts>name</fts>`, 'c')}`, at(3, "(2103): Duplicated decoder with fts set: 'c'.", '(2105): Error loading decoder options.', '(2106): Error adding decoder plugin.')],
      ['a duplicate of nothing', `${CHILD('<prematch>x</prematch>')}${OF(`<parent>r</parent>${REGEX}`, 'c')}`, at(3, "(2104): Invalid duplicated decoder: 'c'.", '(2105): Error loading decoder options.', '(2106): Error adding decoder plugin.')],
      ['after_regex on a first child', CHILD('<regex offset="after_regex">(x)</regex><order>user</order>'), at(2, "(2120): Invalid offset value: 'c'", '(2105): Error loading decoder options.', '(2106): Error adding decoder plugin.')],
    ]; // oxfmt-ignore
    for (const [what, content, lines] of rows) {
      it(what, () => {
        const outcome = load(content);
        expect(outcome.lines).to.deep.equal(lines);
        expect(outcome.place).to.equal(lines.at(-1)!.split(' @')[1]);
      });
    }

    it('too many fields', () => {
      const order = (n: number): string =>
        OF(
          `<prematch>x</prematch><regex>(x)</regex><order>${Array.from({ length: n }, (_, i) => `f${String(i)}`).join(',')}</order>`,
        );
      expect(load(order(32), undefined, 32).set).to.not.equal(undefined);
      expect(load(order(33), undefined, 32).lines.join()).to.contain('Order has too many fields.');
    });
  });

  describe('warns, and goes on', () => {
    const rows: [string, string, string][] = [
      ['a wrong regex type', OF(`<prematch>x</prematch><regex type="osmatch">(x)</regex><order>user</order>`), "warn (7601): Invalid value for attribute 'type' in 'regex' option (decoder `d`). Default value will be used."],
      ['a wrong program name type', OF('<program_name type="x">x</program_name>'), "warn (7601): Invalid value for attribute 'type' in 'program_name' option (decoder `d`). Default value will be used."],
      ['a wrong regex offset', OF('<prematch>x</prematch><regex offset="z">(x)</regex><order>user</order>'), "warn (7601): Invalid value for attribute 'offset' in 'regex' option (decoder `d`). Default value will be used."],
      ['a wrong prematch offset', CHILD('<prematch offset="z">x</prematch>'), "error (7601): Invalid value for attribute 'offset' in 'prematch' option (decoder `c`). Default value will be used."],
      ['a deprecated null mode', OF('<prematch>x</prematch><json_null_field>empty</json_null_field>'), "warn (7603): Deprecated value 'empty' in 'json_null_field' option (decoder `d`). Default value will be used."],
      ['a wrong null mode', OF('<prematch>x</prematch><json_null_field>x</json_null_field>'), "warn (7602): Invalid value 'x' in 'json_null_field' option (decoder `d`). Default value will be used."],
      ['a wrong array mode', OF('<prematch>x</prematch><json_array_structure>x</json_array_structure>'), "warn (7602): Invalid value 'x' in 'json_array_structure' option (decoder `d`). Default value will be used."],
      ['a text that is too long', OF(`<prematch>x</prematch><ftscomment>${'x'.repeat(1024)}</ftscomment>`), `error (1104): Maximum string size reached for: ${'x'.repeat(1024)}.`],
    ]; // oxfmt-ignore
    for (const [what, content, text] of rows) {
      it(what, () => {
        const { set, lines } = load(content);
        expect(lines.map((line) => line.split(' @')[0])).to.deep.equal([text]);
        expect([...set!.ids.keys()]).to.include.members([content.includes('name="c"') ? 'c' : 'd']);
      });
    }
  });

  it('takes an empty local_decoder.xml', () => {
    for (const content of ['', '<!-- nothing yet -->']) {
      expect(load(content, 'etc/decoders/local_decoder.xml').set?.plainRoots).to.deep.equal([]);
    }
  });

  it('joins repeated elements, the last language counting', () => {
    const content = '<prematch>^a</prematch><prematch type="pcre2">|^b</prematch>';
    const decoder = load(OF(content)).set!.plainRoots[0]!.decoder;
    expect([decoder.prematch!.source, decoder.prematch!.language]).to.deep.equal(['^a|^b', 'pcre2']);
    const long = load(
      OF(
        `<program_name>p</program_name><prematch>${'x'.repeat(1000)}</prematch><prematch>${'y'.repeat(24)}</prematch>`,
      ),
    );
    expect(long.lines[0]).to.match(/^error \(1104\): Maximum string size reached for: y+\. @/);
    expect(long.set!.programRoots[0]!.decoder.prematch).to.equal(undefined);
  });

  it('reads order words', () => {
    const content = '<prematch>x</prematch><regex>(x)</regex><order>user,  srcip junk, a\\,b,x\n y</order>';
    const { targets } = load(OF(content)).set!.plainRoots[0]!.decoder;
    expect(targets).to.deep.equal([
      { staticField: 'dstuser', name: 'user' },
      { staticField: 'srcip', name: 'srcip' },
      { staticField: undefined, name: 'a,b' },
      { staticField: undefined, name: 'x\n' },
    ]);
  });

  it('reads fts words', () => {
    const fts = (order: string, words: string): unknown =>
      load(OF(`<prematch>x</prematch><regex>(x)</regex>${order}<fts>${words}</fts>`)).set?.plainRoots[0]!.decoder
        .identity.fts;
    expect(fts('<order>dyn, user</order>', 'name, user, extra_data,dyn')).to.deep.equal({
      parts: new Set(['dstuser', 'data']),
      fields: ['dyn'],
    });
    const before = load(OF('<prematch>x</prematch><fts>zz, id</fts><regex>(x)</regex><order>user</order>'));
    expect(before.set!.plainRoots[0]!.decoder.identity.fts).to.deep.equal({ parts: new Set(['id']), fields: [] });
  });

  it('numbers names by byte order, and gives children the name of the parent', () => {
    const content = `${OF('<program_name>^z</program_name>', 'zz')}
      ${OF('<parent>zz</parent><prematch>x</prematch>', 'child')}
      ${OF('<parent>zz</parent><prematch>y</prematch><use_own_name>true</use_own_name>', 'own')}`;
    const set = load(content).set!;
    const root = set.programRoots[0]!;
    expect(root.decoder.identity).to.deep.equal({ id: set.ids.get('zz'), name: 'zz', accumulate: false });
    expect(root.children.map((c) => c.identity)).to.deep.equal([
      { id: set.ids.get('zz'), name: 'zz', parent: 'zz', accumulate: false },
      { id: set.ids.get('own'), name: 'own', parent: 'zz', accumulate: false },
    ]);
    const names = [...set.ids.keys()];
    expect(names).to.deep.equal([...names].sort());
    expect([...set.ids.values()]).to.deep.equal(names.map((_, i) => i + 1));
    expect(names).to.include.members(['child', 'windows_eventchannel', 'rootcheck']);
  });

  it('attaches a child to all roots of the name that came before, and chains siblings of one name', () => {
    const twin = (kind: string): string => OF(`<${kind}>x</${kind}>`, 'twin');
    const part = (name: string): string => OF(`<parent>twin</parent>${REGEX}`, name);
    const set = load(
      twin('prematch') + twin('program_name') + part('a') + part('b') + part('a') + twin('prematch') + part('b'),
    ).set!;
    const chain = (children: readonly { ownName: string; chained: boolean }[]): string =>
      children.map((c) => c.ownName + (c.chained ? '+' : '')).join(' ');
    expect(set.plainRoots.map((r) => chain(r.children))).to.deep.equal(['a+ b+ a b', 'b']);
    expect(set.programRoots.map((r) => chain(r.children))).to.deep.equal(['a+ b+ a b']);
  });

  it('loads what came before a broken decoder into its messages only once', () => {
    const { lines } = load(`${OF('<prematch>ok</prematch>')}\n${OF('<prematch>BAD</prematch>', 'e')}`);
    expect(lines).to.have.length(2);
  });
});
