import { expect } from 'chai';
import fc from 'fast-check';
import {
  type AgentConfFailure,
  type AgentIdentityText,
  checkAgentConf,
  parseAgentConf,
  selectBlocks,
} from '../../../../lib/config/agent-conf.js';
import { ConfigError, type ConfigWarning, describeWarning } from '../../../../lib/config/config-error.js';
import { ConfigReport } from '../../../../lib/config/config-report.js';
import { LARGE_AGENT_CONF } from '../../../support/config/large-agent-conf.js';

const FILE = 'etc/shared/web/agent.conf';

const WEB: AgentIdentityText = {
  name: 'web-01',
  os: 'Linux |web-01 |6.1.0 |#1 SMP |x86_64 [Debian GNU/Linux|debian: 12 (bookworm)] - Wazuh v4.14.7',
  profile: 'debian, debian12',
};

function fail(text: string): AgentConfFailure {
  const failure = checkAgentConf(text, FILE);
  if (failure === undefined) throw new Error('the file was taken');
  return failure;
}

/** Names of the labels in the blocks that are for an agent. */
function chosen(text: string, identity: AgentIdentityText = WEB): string[] {
  return selectBlocks(parseAgentConf(text, FILE, []), identity).flatMap((block) =>
    block.children.map((child) => child.content),
  );
}

const block = (attributes: string, text: string): string =>
  `<agent_config${attributes === '' ? '' : ` ${attributes}`}><note>${text}</note></agent_config>\n`;

describe('agent.conf', () => {
  describe('blocks', () => {
    it('reads any number of roots with their filters', () => {
      const warnings: ConfigWarning[] = [];
      const text = `${block('', 'a')}${block('name="web" os="Linux" profile="x" overwrite="yes"', 'b')}`;
      const blocks = parseAgentConf(text, FILE, warnings);
      expect(blocks.map(({ filters }) => filters)).to.deep.equal([
        { type: 'osmatch' },
        { name: 'web', os: 'Linux', profile: 'x', type: 'osmatch' },
      ]);
      expect(blocks[1]!.element.line).to.equal(2);
      expect(warnings).to.deep.equal([]);
    });

    it('warns of an attribute nobody knows and uses the block', () => {
      const warnings: ConfigWarning[] = [];
      const blocks = parseAgentConf(`\n${block('nane="web"', 'a')}`, FILE, warnings);
      expect(blocks).to.have.length(1);
      const text = `(1233): Invalid attribute 'nane' in the configuration: '${FILE}'.`;
      expect(warnings).to.deep.equal([{ file: FILE, line: 2, section: '', text, level: 'error', exact: true }]);
      expect(warnings.map(describeWarning)).to.deep.equal([text]);
    });

    it('refuses another root, another language and a filter that is no pattern', () => {
      const error = (text: string): string => {
        try {
          parseAgentConf(text, FILE, []);
        } catch (thrown) {
          expect(thrown).to.be.instanceOf(ConfigError);
          return (thrown as ConfigError).message;
        }
        return 'none';
      };
      expect(error('<agent_config/>\n<ossec_config/>')).to.equal(
        `(1230): Invalid element in the configuration: 'ossec_config'. (${FILE}, line 2)`,
      );
      expect(error(block('name="a" type="glob"', 'a'))).to.include("(1233): Invalid attribute 'glob'");
      expect(error(block('name="(a" type="pcre2"', 'a'))).to.include("(1233): Invalid attribute '(a'");
    });
  });

  describe('selection', () => {
    it('takes blocks without filters, also for an agent without a key', () => {
      expect(chosen(block('', 'all'), { name: undefined, os: 'x', profile: undefined })).to.deep.equal(['all']);
    });

    it('wants all filters to match', () => {
      const text =
        block('name="web" os="linux"', 'both') + block('name="web" os="Windows"', 'one') + block('os="Windows"', 'no');
      expect(chosen(text)).to.deep.equal(['both']);
    });

    const cases: [attributes: string, matches: boolean][] = [
      ['name="WEB"', true],
      ['name="^web"', true],
      ['name="^eb"', false],
      ['name="01$"', true],
      ['name="^web$"', false],
      ['name="db|web-01"', true],
      ['name="db|"', true],
      ['name="!db"', true],
      ['name="!db|web"', false],
      ['os="Windows|Linux"', true],
      ['os="Wazuh v4.14.7$"', true],
      ['os="^Linux |web-01"', true],
      ['os="Debian GNU/Linux|debian: 12"', true],
      ['profile="debian, debian12"', true],
      ['profile="^debian12"', false],
      ['name="web.01"', false],
      ['name="^web\\.\\d+$" type="osregex"', true],
      ['name="^web-[0-9]{2}$" type="pcre2"', true],
      ['name="^WEB-[0-9]{2}$" type="pcre2"', false],
      ['name="^(?i)WEB-\\d\\d$" type="pcre2" os="^Linux"', true],
    ];
    for (const [attributes, matches] of cases) {
      it(`${matches ? 'takes' : 'leaves'} ${attributes}`, () => {
        expect(chosen(block(attributes, 'x'))).to.have.length(matches ? 1 : 0);
      });
    }

    it('leaves a block that asks for what the agent does not have, negated or not', () => {
      const nameless = { name: undefined, os: WEB.os, profile: '' };
      const text = block('name="web"', '1') + block('profile="!x"', '2') + block('os="Linux"', '3');
      expect(chosen(text, nameless)).to.deep.equal(['3']);
    });

    it('compares as bytes', () => {
      expect(chosen(block('name="^süd$"', 'x'), { ...WEB, name: 'süd' })).to.deep.equal(['x']);
    });

    it('ends a pattern without end, leaves its block out and says so', () => {
      const warnings: ConfigWarning[] = [];
      const text = block('name="^(a|aa)+$" type="pcre2"', 'slow') + block('os="Linux"', 'next');
      const blocks = parseAgentConf(text, FILE, []);
      const report = new ConfigReport(FILE, '', warnings);
      const identity = { ...WEB, name: `${'a'.repeat(200)}b` };
      const left = selectBlocks(blocks, identity, report).map(({ line }) => line);
      expect(left).to.deep.equal([2]);
      expect(warnings.map(({ text }) => text)).to.deep.equal([
        "Filter 'name' takes too many steps; the block is left out.",
      ]);
    });
  });

  describe('check', () => {
    const inside = (sections: string): string => `<agent_config>\n${sections}\n</agent_config>\n`;

    it('takes an empty file, one comment and blocks without sections', () => {
      for (const text of ['', '<!-- nothing -->', '<agent_config/>', inside('<!-- here -->')]) {
        expect(checkAgentConf(text, FILE)).to.equal(undefined);
      }
    });

    it('takes a large file of all sections for three systems unchanged', () => {
      const warnings: ConfigWarning[] = [];
      const failure = checkAgentConf(LARGE_AGENT_CONF, FILE, warnings);
      expect(failure?.lines).to.equal(undefined);
      expect(warnings).to.deep.equal([]);
    });

    it('tells broken XML', () => {
      const { check, section, lines, error } = fail('<agent_config>\n<syscheck>\n</agent_config>');
      expect({ check, section, line: error.line }).to.deep.equal({ check: 'Syscheck', section: 'syscheck', line: 2 });
      expect(lines).to.deep.equal([
        `(1226): Error reading XML file '${FILE}': XMLERR: Element 'syscheck' not closed. (line 3).`,
        `(1207): Syscheck remote configuration in '${FILE}' is corrupted.`,
      ]);
    });

    it('tells an unknown section and an unknown element', () => {
      expect(fail(inside('<sycheck/>')).lines).to.deep.equal([
        "(1230): Invalid element in the configuration: 'sycheck'.",
        `(1202): Configuration error at '${FILE}'.`,
        `(1207): Syscheck remote configuration in '${FILE}' is corrupted.`,
      ]);
      const { lines, section, error } = fail(
        inside('<rootcheck>\n<check_everything>yes</check_everything></rootcheck>'),
      );
      expect(lines).to.deep.equal([
        "(1230): Invalid element in the configuration: 'check_everything'.",
        `(1202): Configuration error at '${FILE}'.`,
        `(1207): Rootcheck remote configuration in '${FILE}' is corrupted.`,
      ]);
      expect({ section, line: error.line }).to.deep.equal({ section: 'rootcheck', line: 3 });
    });

    it('tells another root', () => {
      expect(fail('<ossec_config></ossec_config>').lines).to.deep.equal([
        "(1230): Invalid element in the configuration: 'ossec_config'.",
        `(1207): Syscheck remote configuration in '${FILE}' is corrupted.`,
      ]);
    });

    const wrong: [sections: string, check: string, section: string, text: string][] = [
      [
        '<syscheck><disabled>maybe</disabled></syscheck>',
        'Syscheck',
        'syscheck',
        "(1235): Invalid value for element 'disabled': maybe.",
      ],
      [
        '<rootcheck><frequency>x</frequency></rootcheck>',
        'Rootcheck',
        'rootcheck',
        "(1235): Invalid value for element 'frequency': x.",
      ],
      [
        '<localfile><log_format>tabs</log_format></localfile>',
        'Localfile',
        'localfile',
        "(1235): Invalid value for element 'log_format': tabs.",
      ],
      [
        '<localfile><log_format>syslog</log_format><location>/x</location><ignore>(a</ignore></localfile>',
        'Localfile',
        'localfile',
        "(1235): Invalid value for element 'ignore': (a: Group is not closed.",
      ],
      [
        '<socket><name>agent</name></socket>',
        'Localfile',
        'localfile',
        "(1235): Invalid value for element 'name': agent.",
      ],
      [
        '<client><server><address>10.0.0.1</address></server></client>',
        'Client',
        'client',
        "(1230): Invalid element in the configuration: 'server'.",
      ],
      [
        '<client><force_reconnect_interval>soon</force_reconnect_interval></client>',
        'Client',
        'client',
        "(1235): Invalid value for element 'force_reconnect_interval': soon.",
      ],
      [
        '<client_buffer><queue_size>0</queue_size></client_buffer>',
        'ClientBuffer',
        'client_buffer',
        "(1235): Invalid value for element 'queue_size': 0.",
      ],
      [
        '<wodle name="syscollector"><interval>1y</interval></wodle>',
        'WModule',
        'wodle',
        "(1235): Invalid value for element 'interval': 1y.",
      ],
      [
        '<sca><policies><policy/></policies></sca>',
        'WModule',
        'wodle',
        '(1234): Invalid NULL content for element: policy.',
      ],
      ['<labels><label>x</label></labels>', 'Labels', 'labels', '(1234): Invalid NULL content for element: key.'],
    ];
    for (const [sections, check, section, text] of wrong) {
      it(`tells ${sections}`, () => {
        const failure = fail(inside(sections));
        expect(failure.lines).to.deep.equal([
          text,
          `(1202): Configuration error at '${FILE}'.`,
          `(1207): ${check} remote configuration in '${FILE}' is corrupted.`,
        ]);
        expect(failure).to.include({ check, section });
        expect(failure.error).to.include({ line: 2, file: FILE });
      });
    }

    it('looks at blocks for other agents too, and ends with the first check that fails', () => {
      const text =
        '<agent_config os="Windows"><labels><label>x</label></labels></agent_config>' +
        '<agent_config name="nobody">\n<rootcheck><frequency>x</frequency></rootcheck></agent_config>';
      expect(fail(text)).to.include({ check: 'Rootcheck' });
    });

    it('does not read together what no agent reads together', () => {
      const sca = (day: string): string => `<sca>${day}</sca>`;
      const text = `<agent_config os="Windows">${sca('<wday>1</wday>')}</agent_config><agent_config os="Linux">${sca('<day>1</day>')}</agent_config>`;
      expect(checkAgentConf(text, FILE)).to.equal(undefined);
    });

    it('does not look into sections an agent does not take from its manager, and says so', () => {
      const warnings: ConfigWarning[] = [];
      const text = inside('<active-response><x/></active-response>\n<global><y/></global>');
      expect(checkAgentConf(text, FILE, warnings)).to.equal(undefined);
      expect(warnings.map(describeWarning)).to.deep.equal([
        `Section 'global' is not taken from the manager; it is ignored. (${FILE}, line 3)`,
      ]);
    });

    it('takes a section named like a member of every object for unknown', () => {
      for (const name of ['constructor', '__proto__', 'toString']) {
        expect(fail(inside(`<${name}/>`)).error.code).to.equal(1230);
      }
    });
  });

  describe('any text', () => {
    const names = [
      'agent_config',
      'syscheck',
      'localfile',
      'sca',
      'wodle',
      'labels',
      'client',
      'x',
      'policies',
      'query',
    ];
    const piece = fc.oneof(
      fc.constantFrom('<', '>', '/', '!', '"', '=', '\\', '\n', '<!--', '-->', 'yes', 'no', ' name="syscollector"'),
      fc.constantFrom(...names.flatMap((name) => [`<${name}>`, `</${name}>`, `<${name}/>`, `<${name} name="a">`])),
      fc.string({ maxLength: 6 }),
    );

    it('is taken or refused with a place in the file', () => {
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
          const text = pieces.join('');
          const failure = checkAgentConf(text, FILE);
          if (failure === undefined) return;
          const lines = text.split('\n').length;
          expect(failure.error.file).to.equal(FILE);
          expect(failure.error.line).to.be.within(1, lines);
          expect(failure.lines.at(-1)).to.equal(
            `(1207): ${failure.check} remote configuration in '${FILE}' is corrupted.`,
          );
        }),
        { numRuns: 500 },
      );
    });

    it('that was taken is parsed, and its blocks are all chosen or left', () => {
      const attribute = fc.tuple(fc.constantFrom('name', 'os', 'profile'), fc.stringMatching(/^[a-z0-9|^$! .-]{0,8}$/));
      const anyBlock = fc.uniqueArray(attribute, { selector: ([name]) => name, maxLength: 3 });
      fc.assert(
        fc.property(fc.array(anyBlock, { maxLength: 6 }), (blocks) => {
          const text = blocks
            .map((attributes) => block(attributes.map(([name, value]) => `${name}="${value}"`).join(' '), 'x'))
            .join('');
          const parsed = parseAgentConf(text, FILE, []);
          expect(parsed).to.have.length(blocks.length);
          const kept = selectBlocks(parsed, WEB);
          expect(kept).to.deep.equal(parsed.map(({ element }) => element).filter((element) => kept.includes(element)));
          blocks.forEach((attributes, index) => {
            if (attributes.length === 0) expect(kept).to.include(parsed[index]!.element);
          });
        }),
      );
    });
  });
});
