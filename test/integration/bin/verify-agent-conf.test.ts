import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { verifyAgentConfCommand } from '../../../bin/agent-tools/verify-agent-conf-command.js';
import { MAX_AGENT_CONF_BYTES } from '../../../lib/config/agent-conf-file.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { versionText } from '../../../lib/product/version.js';
import { LARGE_AGENT_CONF } from '../../support/config/large-agent-conf.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { removeTree } from '../../support/remove-tree.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const DATE = /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d /;

describe('verify-agent-conf', () => {
  let home: TemporaryHome;

  beforeEach(() => {
    home = new TemporaryHome();
    writeFileSync(home.path('etc/internal_options.conf'), 'agent.remote_conf=1\n');
  });

  afterEach(() => {
    home.remove();
  });

  type Said = { code: number; out: string; err: string[] };

  /** What it says; on the error stream without dates, which every line must have. */
  async function run(...args: string[]): Promise<Said> {
    const said = { out: '', err: '' };
    const code = await verifyAgentConfCommand(['--home', home.root, ...args], {
      write: (text) => (said.out += text),
      writeError: (text) => (said.err += text),
    });
    const err = said.err.split('\n');
    expect(err.pop()).to.equal('');
    return {
      code,
      out: said.out,
      err: err.map((line) => (DATE.test(line) ? line.replace(DATE, '') : `no date: ${line}`)),
    };
  }

  function file(text: string, name = 'agent.conf.tmp'): string {
    const path = home.path(name);
    writeFileSync(path, text);
    return path;
  }

  function group(name: string, text?: string): void {
    mkdirSync(home.path('etc/shared', name), { recursive: true });
    if (text !== undefined) writeFileSync(home.path('etc/shared', name, 'agent.conf'), text);
  }

  const error = (text: string): string => `verify-agent-conf: ERROR: ${text}`;
  const WRONG = '<agent_config>\n<rootcheck><frequency>x</frequency></rootcheck>\n</agent_config>';

  const tellsWrong = (name: string): string[] => [
    error("(1235): Invalid value for element 'frequency': x."),
    error(`(1202): Configuration error at '${name}'.`),
    error(`(1207): Rootcheck remote configuration in '${name}' is corrupted.`),
    `verify-agent-conf: INFO: The error is in line 2 of '${name}'.`,
  ];

  it('says that a file is right', async () => {
    expect(await run('-f', file(LARGE_AGENT_CONF))).to.deep.equal({
      code: 0,
      out: 'verify-agent-conf: OK\n\n',
      err: [],
    });
  });

  it('says what is wrong with a file, and goes on with the next', async () => {
    const wrong = file(WRONG, 'wrong');
    const right = file('<agent_config/>', 'right');
    expect(await run('-f', wrong, '-f', right)).to.deep.equal({
      code: 1,
      out: 'verify-agent-conf: OK\n\n',
      err: tellsWrong(wrong),
    });
  });

  it('tells broken XML, unknown elements and other roots', async () => {
    const xml = file('<agent_config>\n<syscheck>', 'xml');
    expect(await run('-f', xml)).to.deep.equal({
      code: 1,
      out: '',
      err: [
        error(
          `(1226): Error reading XML file '${xml}': XMLERR: End of file and some elements were not closed. (line 2).`,
        ),
        error(`(1207): Syscheck remote configuration in '${xml}' is corrupted.`),
      ],
    });
    const unknown = file('<agent_config>\n<nothing/></agent_config>', 'unknown');
    expect((await run('-f', unknown)).err.slice(0, 3)).to.deep.equal([
      error("(1230): Invalid element in the configuration: 'nothing'."),
      error(`(1202): Configuration error at '${unknown}'.`),
      error(`(1207): Syscheck remote configuration in '${unknown}' is corrupted.`),
    ]);
    const root = file('<nothing/>', 'root');
    expect((await run('-f', root)).err.slice(0, 2)).to.deep.equal([
      error("(1230): Invalid element in the configuration: 'nothing'."),
      error(`(1207): Syscheck remote configuration in '${root}' is corrupted.`),
    ]);
  });

  it('warns and says OK where that is no reason to refuse the file', async () => {
    const path = file('<agent_config nane="x"><syscheck><direktories>/</direktories></syscheck></agent_config>');
    expect(await run('-f', path)).to.deep.equal({
      code: 0,
      out: 'verify-agent-conf: OK\n\n',
      err: [
        error(`(1233): Invalid attribute 'nane' in the configuration: '${path}'.`),
        `verify-agent-conf: WARNING: (1230): Invalid element in the configuration: 'direktories'. (${path}, line 1)`,
      ],
    });
  });

  it('refuses what is no file, follows a link the user gave, and reads no file without end', async () => {
    const nowhere = home.path('nowhere');
    expect(await run('-f', nowhere)).to.deep.equal({
      code: 1,
      out: '',
      err: [error(`[${nowhere}] is not a valid file.`)],
    });
    const folder = home.path('etc');
    const [first, second] = (await run('-f', folder)).err;
    expect(first).to.equal(error(`[${folder}] is not a valid file.`));
    expect(second).to.equal(`verify-agent-conf: INFO: '${folder}' is not a regular file.`);
    expect((await run('-f', '/dev/zero')).err[0]).to.equal(error('[/dev/zero] is not a valid file.'));
    symlinkSync(file('<agent_config/>'), home.path('link'));
    expect(await run('-f', home.path('link'))).to.include({ code: 0 });
    const large = file(' '.repeat(MAX_AGENT_CONF_BYTES + 1), 'large');
    expect((await run('-f', large)).err).to.deep.equal([
      error(`[${large}] is not a valid file.`),
      `verify-agent-conf: INFO: '${large}' has 4194305 bytes, 4194304 are allowed: it is not distributed to agents.`,
    ]);
  });

  it('verifies every group', async () => {
    group('default', '<agent_config/>');
    group('web', '<agent_config os="Linux"><sca/></agent_config>');
    expect(await run()).to.deep.equal({
      code: 0,
      out:
        '\nverify-agent-conf: Verifying [etc/shared/default/agent.conf]\nverify-agent-conf: OK\n' +
        '\nverify-agent-conf: Verifying [etc/shared/web/agent.conf]\nverify-agent-conf: OK\n\n',
      err: [],
    });
    group('db');
    group('mail', WRONG);
    writeFileSync(home.path('etc/shared/files.yml'), 'groups: {}\n');
    expect(await run()).to.deep.equal({
      code: 1,
      out:
        '\nverify-agent-conf: Verifying [etc/shared/db/agent.conf]\nverify-agent-conf: File not found\n' +
        '\nverify-agent-conf: Verifying [etc/shared/default/agent.conf]\nverify-agent-conf: OK\n' +
        '\nverify-agent-conf: Verifying [etc/shared/mail/agent.conf]\n' +
        '\nverify-agent-conf: Verifying [etc/shared/web/agent.conf]\nverify-agent-conf: OK\n\n',
      err: tellsWrong('etc/shared/mail/agent.conf'),
    });
  });

  it('follows no link in the folder of a group', async () => {
    group('default');
    symlinkSync('/etc/passwd', home.path('etc/shared/default/agent.conf'));
    const { code, err } = await run();
    expect(code).to.equal(1);
    expect(err).to.have.length(1);
    expect(err[0]).to.include("(1103): Could not open file 'etc/shared/default/agent.conf' due to");
  });

  it('lets everything pass with agent.remote_conf=0', async () => {
    writeFileSync(home.path('etc/local_internal_options.conf'), 'agent.remote_conf=0\n');
    const path = file(WRONG);
    expect(await run('-f', path)).to.deep.equal({ code: 0, out: 'verify-agent-conf: OK\n\n', err: [] });
    const { err } = await run('-d', '-f', path);
    expect(err).to.deep.equal([`verify-agent-conf: DEBUG: '${path}' is not checked: agent.remote_conf is 0.`]);
  });

  it('checks a file without a home, and says when there are no groups to verify', async () => {
    removeTree(home.path('etc'));
    expect(await run('-f', file(WRONG))).to.include({ code: 1 });
    expect(await run('-f', file('<agent_config/>'))).to.deep.include({ code: 0, err: [] });
    expect(await run()).to.deep.equal({
      code: 1,
      out: '',
      err: [error(`There are no groups in '${home.path('etc/shared')}'.`)],
    });
  });

  it('shows help, version and what is wrong with its arguments', async () => {
    const help = await run('-h');
    expect(help.code).to.equal(1);
    expect(help.out).to.include('\nverify-agent-conf: Verify agent.conf syntax for errors.\n');
    expect(help.out).to.include('\nUsage:  verify-agent-conf [-f <agent.conf file>]\n');
    expect(await run('-V')).to.deep.equal({ code: 0, out: `${versionText('verify-agent-conf')}\n`, err: [] });
    expect((await run('-f')).code).to.equal(1);
    expect((await run('-x')).code).to.equal(1);
    expect((await run('agent.conf')).code).to.equal(1);
  });

  it('is a program', async () => {
    const program = new TestProgram(fileURLToPath(new URL('bin/verify-agent-conf', productRoot())), [
      '--home',
      home.root,
      '-f',
      file(WRONG),
    ]);
    const { code, stdout, stderr } = await program.ended;
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.match(/ verify-agent-conf: ERROR: \(1207\): Rootcheck remote configuration in /);
  });
});
