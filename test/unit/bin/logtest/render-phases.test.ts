import { expect } from 'chai';
import fc from 'fast-check';
import { pythonNotation, pythonText } from '../../../../bin/logtest/python-notation.js';
import { renderPhases } from '../../../../bin/logtest/render-phases.js';
import { textStyle } from '../../../../bin/terminal/text-style.js';
import { membersOf } from '../../../../lib/logtest/logtest-request.js';

const FILE = textStyle(false, {});
const render = (data: Record<string, unknown>, style = FILE): string =>
  renderPhases(membersOf(data) ?? new Map<string, unknown>(), style);

const WIDGET = {
  token: '8cd2d6d1',
  output: {
    timestamp: '2026-03-04T10:15:31.000+0000',
    rule: {
      level: 5,
      description: 'Widget login denied.',
      id: '100200',
      mitre: { id: ['T1110'] },
      firedtimes: 1,
      mail: false,
      groups: ['local', 'widget'],
    },
    agent: { id: '000', name: 'mgr' },
    full_log: 'Mar  4 10:15:30 web-02 widget[7]: denied bob from 203.0.113.9',
    predecoder: { program_name: 'widget', timestamp: 'Mar  4 10:15:30', hostname: 'web-02' },
    decoder: { parent: 'widget', name: 'widget' },
    data: { srcip: '203.0.113.9', dstuser: 'bob', widget: { build: '77' } },
    location: 'stdin',
  },
  rules_debug: ['Trying rule: 1 - Generic template for all syslog rules.', '*Rule 1 matched', '*Trying child rules'],
  alert: true,
  codemsg: 0,
};

describe('phases of logtest', () => {
  it('are laid out as users know them', () => {
    expect(render(WIDGET)).to.equal(`
**Phase 1: Completed pre-decoding.
	full event: 'Mar  4 10:15:30 web-02 widget[7]: denied bob from 203.0.113.9'
	timestamp: 'Mar  4 10:15:30'
	hostname: 'web-02'
	program_name: 'widget'

**Phase 2: Completed decoding.
	name: 'widget'
	parent: 'widget'
	dstuser: 'bob'
	srcip: '203.0.113.9'
	widget.build: '77'

**Rule debugging:
	Trying rule: 1 - Generic template for all syslog rules.
		*Rule 1 matched
		*Trying child rules

**Phase 3: Completed filtering (rules).
	id: '100200'
	level: '5'
	description: 'Widget login denied.'
	groups: '['local', 'widget']'
	firedtimes: '1'
	mail: 'False'
	mitre.id: '['T1110']'
**Alert to be generated.
`);
  });

  it('show no more than there is', () => {
    expect(render({ output: { decoder: {}, location: 'stdin' }, alert: false })).to.equal(`
**Phase 1: Completed pre-decoding.

**Phase 2: Completed decoding.
	No decoder matched.
`);
  });

  it('sort members by code point at every depth', () => {
    const data = { Z: '1', a: '2', b: { y: '3', x: { k: [true, null, 1.5, { n: "it's" }] } }, 'b-': '4' };
    expect(render({ output: { decoder: { name: 'd', ftscomment: 'c', accumulate: 1 }, data } })).to.contain(`
	name: 'd'
	accumulate: '1'
	ftscomment: 'c'
	Z: '1'
	a: '2'
	b.x.k: '[True, None, 1.5, {'n': "it's"}]'
	b.y: '3'
	b-: '4'
`);
  });

  it('colour a terminal that wants it, and never let a log steer it', () => {
    const data = { output: { full_log: 'a\u001b[2Jb\u0007\u202ec\td', decoder: {} } };
    const shown = "full event: 'a\\x1b[2Jb\\x07\\u{202e}c\td'";
    expect(render(data, textStyle(true, { TERM: 'xterm' })))
      .to.contain(`\u001b[1m**Phase 1`)
      .and.contain(shown);
    for (const environment of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      expect(render(data, textStyle(true, environment)))
        .to.contain(shown)
        .and.not.contain('\u001b');
    }
    expect(render(data, textStyle(false, {})), 'bytes stay what they are in a pipe').to.contain('a\u001b[2Jb');
  });

  it('never throw, and always end', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), (output, alert) => {
        expect(render({ output, alert })).to.match(/^\n\*\*Phase 1[^]*\n$/);
      }),
    );
  });
});

describe('Python notation', () => {
  it('quotes and escapes as repr() does', () => {
    const cases: [unknown, string][] = [
      ['a', "'a'"],
      ["it's", `"it's"`],
      [`both ' and "`, `'both \\' and "'`],
      ['tab\t nl\n cr\r back\\slash', "'tab\\t nl\\n cr\\r back\\\\slash'"],
      ['nul\u0000 del\u007f nbsp\u00a0 bom\ufeff', "'nul\\x00 del\\x7f nbsp\\xa0 bom\\ufeff'"],
      ['é 日本 😀', "'é 日本 😀'"],
      ['\u{e0001}', "'\\U000e0001'"],
      [[], '[]'],
      [{}, '{}'],
      [[false, [1, 'x']], "[False, [1, 'x']]"],
    ];
    for (const [value, shown] of cases) expect(pythonNotation(value)).to.equal(shown);
    expect(pythonText("it's")).to.equal("it's");
  });
});
