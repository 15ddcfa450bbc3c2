import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { runControl } from '../../../bin/control/control-command.js';
import { initHome } from '../../../bin/control/home/init-home.js';
import { checkDaemons } from '../../../lib/control/check-daemons.js';
import { supervisorLock } from '../../../lib/control/control-protocol.js';
import { productCatalogue, startOrder } from '../../../lib/control/daemon-catalogue.js';
import { wantedDaemons } from '../../../lib/control/wanted-daemons.js';
import { Home } from '../../../lib/home/home.js';
import { ProcessLock } from '../../../lib/process/process-lock.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';
import { removeTree } from '../../support/remove-tree.js';
import { knowFewRules } from '../../support/watch-little.js';

type Item = { file: string; line: number; text: string; what: string; daemon?: string };
type Document = {
  error: number;
  message: string;
  data: { valid: boolean; errors: Item[]; warnings: Item[]; no_effect: Item[] };
};

/** What a configuration of 4.x asks for and this version does not do. */
const WITHOUT_EFFECT = [
  ...['global/update_check'],
  ...['database_output', 'agentless', 'wodle name="osquery"'],
  ...['wodle name="aws-s3"', 'vulnerability-detection', 'gcp-pubsub'],
  ...['github', 'ms-graph', 'fluent-forward'],
];

describe('svc-control validate, and the checks before a start', function () {
  this.timeout(120_000);
  const root = fileURLToPath(productRoot());
  const parent = mkdtempSync(join(tmpdir(), 'svc-validate-'));
  const home = new Home(join(parent, 'h'));
  const configuration = home.path('etc', 'manager.conf');
  let shipped = '';

  before(async () => {
    await initHome(home, { role: 'server' });
    knowFewRules(home);
    shipped = readFileSync(configuration, 'utf8');
  });
  afterEach(() => {
    writeFileSync(configuration, shipped);
  });
  after(() => {
    removeTree(parent);
  });

  /** Over the real daemons, in this process. */
  async function control(...args: string[]) {
    const said = { code: 0, stdout: '', stderr: '' };
    said.code = await runControl([...args, '--home', home.root], {
      catalogue: productCatalogue(),
      write: (text) => (said.stdout += text),
      writeError: (text) => (said.stderr += text),
      terminal: false,
    });
    return said;
  }
  const validate = async (): Promise<Document> => JSON.parse((await control('validate', '-j')).stdout) as Document;
  const migrate = () => copyFileSync(join(root, 'test/fixtures/manager-of-4x.conf'), configuration);
  const change = (from: string, to: string) => writeFileSync(configuration, shipped.replace(from, to));

  it('finds nothing in a new home', async () => {
    const { code, stdout } = await control('validate');
    expect([code, stdout]).to.deep.equal([
      0,
      'Looked at: main configuration, internal options, api.yaml, ruleset and lists, policies, agent.conf of 1 group.\n' +
        'The configuration is valid: 0 errors, 0 warnings, 0 sections or settings without effect.\n',
    ]);
    expect(await validate()).to.deep.equal({
      error: 0,
      message: 'The configuration is valid.',
      data: { valid: true, errors: [], warnings: [], no_effect: [] },
    });
  });

  it('lists what of a configuration of 4.x has no effect, with file and line', async () => {
    migrate();
    const { error, data } = await validate();
    expect([error, data.valid, data.errors]).to.deep.equal([0, true, []]);
    expect(data.no_effect.map(({ what }) => what)).to.deep.equal(WITHOUT_EFFECT);
    const lines = readFileSync(configuration, 'utf8').split('\n');
    for (const { file, line, what } of data.no_effect) {
      expect(file).to.equal('etc/manager.conf');
      expect(lines[line - 1], what).to.include(what.startsWith('wodle') ? what : (what.split('/').at(-1) ?? ''));
    }
    const { code, stdout } = await control('validate');
    expect(code).to.equal(0);
    expect(stdout.split('\n').filter((line) => line.includes(' has no effect '))).to.have.length(WITHOUT_EFFECT.length);
    expect(stdout).to.include(
      "WARNING: Section 'vulnerability-detection' has no effect in this version: no vulnerabilities are looked for. (etc/manager.conf, line 160)\n",
    );
  });

  it('says what of api.yaml is old', async () => {
    const file = home.path('api', 'configuration', 'api.yaml');
    const before = existsSync(file) ? readFileSync(file) : undefined;
    writeFileSync(file, 'use_only_authd: true\nhttps:\n  ssl_protocol: tlsv1\n');
    try {
      const { error, data } = await validate();
      expect([error, data.valid, data.errors]).to.deep.equal([0, true, []]);
      expect(data.warnings.map(({ text }) => text).join('\n'))
        .to.include("Key 'use_only_authd' is old and has no effect.")
        .and.to.include('The TLS version tlsv1 is deprecated: TLS 1.2 and 1.3 are used.');
    } finally {
      if (before === undefined) rmSync(file);
      else writeFileSync(file, before);
    }
  });

  it('lists it in status, too', async () => {
    migrate();
    const { stdout } = await control('status', '-j');
    const { no_effect: found } = JSON.parse(stdout) as { no_effect: Item[] };
    expect(found.map(({ what }) => what)).to.deep.equal(WITHOUT_EFFECT);
    const plain = await control('status');
    expect(plain.stdout.trimEnd().split('\n')).to.have.length(11);
    expect(plain.stderr).to.include(
      'Configured, without effect: vulnerability-detection (etc/manager.conf, line 160): ',
    );
    expect((await control('status', '--table')).stdout).to.include(
      '\nConfigured, without effect:\n  global/update_che',
    );
  });

  it('warns at a start, on the terminal and once in the log', async () => {
    migrate();
    const some = (...args: string[]) => new TestProgram('product-control.js', ['svc-db', ...args]).ended;
    const start = await some('start', '--home', home.root);
    expect([start.code, start.stdout.includes('Started svc-db...')]).to.deep.equal([0, true]);
    const reload = await some('reload', '--home', home.root);
    expect(reload.code).to.equal(0);
    await some('stop', '--home', home.root);
    for (const { stderr } of [start, reload]) {
      expect(stderr.split('\n').filter((line) => line.startsWith('WARNING: '))).to.have.length(WITHOUT_EFFECT.length);
    }
    const log = readFileSync(home.path('logs', 'manager.log'), 'utf8').split('\n');
    const told = log.filter((line) =>
      line.includes("svc-control: WARNING: Section 'vulnerability-detection' has no effect"),
    );
    expect(told, 'at the start and at the reload').to.have.length(2);
    expect(told[0]).to.match(/\(etc\/manager\.conf, line 160\)$/);
  });

  it('has one daemon speak of each section in -t', async () => {
    migrate();
    const test = (daemon: string) => new TestProgram(join(root, 'bin', daemon), ['-t', '--home', home.root]).ended;
    const monitord = await test('svc-monitord');
    expect(monitord.code).to.equal(0);
    expect(monitord.stderr).to.include(
      "svc-monitord: WARNING: Section 'vulnerability-detection' has no effect in this version",
    );
    expect(monitord.stderr).to.include(
      "svc-monitord: ERROR: Unable to enable integration for: 'virustotal'. File not found inside 'integrations'. (etc/manager.conf, line 63)",
    );
    expect(monitord.stderr).not.to.include('update_check');
    const analysisd = await test('svc-analysisd');
    expect(analysisd.stderr).to.include("WARNING: Element 'update_check' of 'global' has no effect");
    expect(analysisd.stderr).not.to.include("'vulnerability-detection'");
    expect((await test('svc-syscheckd')).stderr).to.equal('');
    change('</manager_config>', '<integration><name>slack</name><level>ten</level></integration></manager_config>');
    const refused = await test('svc-monitord');
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(/ERROR: \(1235\): Invalid value for element 'level': ten\.\n.*CRITICAL: \(1202\)/);
  });

  it('refuses wrong values of sections that nothing goes by yet, also at a start', async () => {
    change('</manager_config>', '<integration><name>slack</name><level>ten</level></integration></manager_config>');
    const { error, data } = await validate();
    expect([error, data.valid]).to.deep.equal([1, false]);
    const line = shipped.split('\n').findIndex((text) => text.includes('</manager_config>')) + 1;
    expect(data.errors).to.deep.equal([
      {
        text: "(1235): Invalid value for element 'level': ten.",
        file: 'etc/manager.conf',
        line,
        daemon: 'svc-monitord',
      },
    ]);
    const start = await control('start');
    expect([start.code, start.stdout]).to.deep.equal([1, 'svc-monitord: Configuration error. Exiting\n']);
    expect(start.stderr).to.match(/svc-monitord: ERROR: \(1235\): Invalid value for element 'level': ten\.\n/);
    expect(ProcessLock.holder(supervisorLock(home))).to.equal(undefined);
  });

  it('tells one mistake once, where it was made, and that nothing happened', async () => {
    change('  </alerts>\n', '');
    const opened = shipped.split('\n').indexOf('  <alerts>') + 1;
    const start = await control('start');
    expect(start.code).to.equal(1);
    expect(start.stdout).to.match(/^svc-\w+: Configuration error\. Exiting\n$/);
    expect(start.stderr.match(/XMLERR/g)).to.have.length(1);
    expect(start.stderr.trimEnd().split('\n')).to.have.length(3);
    expect(start.stderr).to.include(`<alerts> was opened in line ${String(opened)} and is not closed.`);
    expect(start.stderr).to.match(/Configuration error at 'etc\/manager\.conf'\. Line \d+\.\nNothing was started\.\n$/);
    expect((await control('restart')).stderr).to.match(/\nNothing was stopped: what runs goes on\.\n$/);
    const { data } = await validate();
    expect(data.errors.map(({ file, line }) => [file, line])).to.deep.equal([['etc/manager.conf', opened]]);
    expect(existsSync(home.path('var', 'run', 'svc-db.failed'))).to.equal(true);
  });

  it('tells it once in the foreground, too, where nothing is started', async () => {
    change('  </alerts>\n', '');
    const run = await new TestProgram(join(root, 'bin', 'svc-control'), ['run', '--home', home.root]).ended;
    expect(run.code).to.equal(1);
    expect(run.stderr.match(/XMLERR/g)).to.have.length(1);
    expect(run.stderr).to.include('svc-control: ERROR: Nothing was started.\n');
    expect(run.stderr).not.to.match(/Started svc-/);
  });

  it('keeps what runs at a reload by signal, and says so once', async () => {
    const some = (...args: string[]) => new TestProgram('product-control.js', ['svc-db,svc-monitord', ...args]);
    const run = some('run', '--home', home.root);
    const complaints = () => run.stderr.split('\n').filter((line) => / (ERROR|CRITICAL): /.test(line));
    try {
      await eventually(
        'both run',
        () => run.stderr.includes('Started svc-monitord') && run.stderr.includes('Started svc-db'),
      );
      change('  </alerts>\n', '');
      run.signal('SIGHUP');
      await eventually('it is refused', () => run.stderr.includes('Nothing was reloaded: the last good configuration'));
      expect(complaints(), 'mistake, file, consequence').to.have.length(3);
      expect(run.stderr).not.to.include('Reload refused');
    } finally {
      run.signal('SIGINT');
      await run.ended;
    }
    expect(complaints()).to.have.length(3);
  });

  it('makes the checks in one thread, without a process of any daemon', async () => {
    const catalogue = productCatalogue();
    const daemons = [...wantedDaemons(home, catalogue, startOrder('server'))];
    expect(daemons).to.include.members(['svc-analysisd', 'svc-apid', 'svc-authd']);
    const program = () => expect.fail('a daemon was run');
    const report = () => checkDaemons(home, { ...catalogue, program }, daemons, 'all');
    expect(await report()).to.deep.equal({ failures: [], noEffect: [] });
    change('<port>1515</port>', '<port>x</port>');
    const { failures } = await report();
    expect(failures.map(({ daemon }) => daemon)).to.deep.equal(['svc-authd']);
    expect(failures[0]?.output).to.match(
      /ERROR: \(1235\): Invalid value for element 'port': x\.\n.*CRITICAL: \(1202\)/,
    );
  });

  it('reads policies, and names file, line, check and field', async () => {
    const path = home.path('ruleset', 'sca', 'mine.yml');
    writeFileSync(
      path,
      `policy: {id: mine, file: mine.yml, name: n, description: d}\nchecks:\n  - id: 5\n    title: t\n    condition: some\n    rules: ["f:/a"]\n`,
    );
    try {
      const { code, stdout } = await control('validate');
      expect(code).to.equal(0);
      expect(stdout).to.include(
        "WARNING: ruleset/sca/mine.yml line 5: check 5: 'condition' is 'some': it must be 'all', 'any' or 'none'\n",
      );
      expect(stdout).to.include(
        "WARNING: Error found while validating policy file: 'ruleset/sca/mine.yml'. Skipping it.\n",
      );
      expect(stdout).to.match(/^Looked at: .*, policies, /m);
    } finally {
      rmSync(path);
    }
  });

  it('looks at every other file, and names file and line', async () => {
    /** One mistake in each part of the configuration at a time: of a ruleset the first is told. */
    const rounds: (readonly [path: string, text: string, expected: RegExp])[][] = [
      [
        [
          'etc/local_internal_options.conf',
          'remoted.sender_pool=x\n',
          /\(2302\): Invalid definition for remoted\.sender_pool/,
        ],
        ['api/configuration/api.yaml', 'porty: 1\n', /'porty' is not known \(line 1\)/],
        ['etc/shared/default/agent.conf', '<agent_config>\n<syschek/>\n</agent_config>', /\(1230\).*'syschek'.*line 2/],
        ['etc/rules/local_rules.xml', '<group name="a,">\n<rool/></group>', /local_rules\.xml:2/],
      ],
      [
        ['etc/local_internal_options.conf', 'maild.grouping=7\n', /\(2302\): Invalid definition for maild\.grouping/],
        ['etc/decoders/local_decoder.xml', '<decodr name="a"/>', /local_decoder\.xml:1/],
      ],
      [
        [
          'etc/decoders/local_decoder.xml',
          '<decoder name="a">\n<prematch type="pcre2">ab(c</prematch></decoder>',
          /Syntax error on regex: 'ab\(c' \(etc\/decoders\/local_decoder\.xml:2, decoder 'a', pattern: .* at offset 2\)/,
        ],
      ],
      [
        [
          'etc/rules/local_rules.xml',
          '<group name="a,">\n<rule id="100100" level="3">\n<regex type="pcre2">a[b</regex><description>d</description></rule></group>',
          /local_rules\.xml:\d, rule 100100, pattern: .* at offset 1\)/,
        ],
      ],
    ];
    for (const files of rounds) {
      const before = files.map(([path]) => [path, readFileSync(home.path(path), 'utf8')] as const);
      for (const [path, text] of files) writeFileSync(home.path(path), text);
      const { code, stdout } = await control('validate');
      for (const [path, text] of before) writeFileSync(home.path(path), text);
      expect(code).to.equal(1);
      expect(stdout.split('\n').filter((line) => line.startsWith('ERROR: '))).to.have.length(files.length);
      for (const [path, , expected] of files) expect(stdout, path).to.match(expected);
    }
  });
});
