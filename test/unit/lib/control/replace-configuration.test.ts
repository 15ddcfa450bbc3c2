import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  ConfigurationRefusedError,
  recoverConfiguration,
  replaceConfiguration,
} from '../../../../lib/control/replace-configuration.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const OLD = '<manager_config>\n</manager_config>\n';
const NEW = '<manager_config>\n  <global></global>\n</manager_config>\n';
const COMMAND =
  '<manager_config><localfile><log_format>full_command</log_format><command>id</command></localfile></manager_config>';

describe('replacing the main configuration', () => {
  let home: TemporaryHome;
  let logger: RecordingLogger;
  let checked: string[];
  let problems: string[];

  beforeEach(() => {
    home = new TemporaryHome();
    logger = new RecordingLogger();
    checked = [];
    problems = [];
    writeFileSync(home.path('etc/manager.conf'), OLD);
    chmodSync(home.path('etc/manager.conf'), 0o640);
  });
  afterEach(() => home.remove());

  const inForce = () => readFileSync(home.path('etc/manager.conf'), 'utf8');
  const check = () => {
    checked.push(inForce());
    return Promise.resolve(problems);
  };
  const replace = (text: string) => replaceConfiguration({ home, gid: undefined, check, logger }, text);
  const refusal = async (text: string) => {
    const error: unknown = await replace(text).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(ConfigurationRefusedError);
    expect(inForce(), 'the old one stays').to.equal(OLD);
    expect(readdirSync(home.path('etc'))).to.have.members(
      ['home.json', 'manager.conf'].filter((name) => readdirSync(home.path('etc')).includes(name)),
    );
    const { code, message } = error as ConfigurationRefusedError;
    return `${String(code)} ${message}`;
  };

  it('keeps owner and mode, and leaves nothing beside it', async () => {
    const before = statSync(home.path('etc/manager.conf'));
    await replace(NEW);
    expect(inForce()).to.equal(NEW);
    expect(checked, 'it is checked where it stands').to.deep.equal([NEW]);
    const after = statSync(home.path('etc/manager.conf'));
    expect([after.uid, after.gid, after.mode]).to.deep.equal([before.uid, before.gid, before.mode]);
    expect(readdirSync(home.path('etc'))).to.have.members(['home.json', 'manager.conf']);
  });

  it('refuses what cannot be read before it is in force', async () => {
    expect(await refusal(' \n')).to.equal('1125 it is empty');
    expect(await refusal('<manager_config>')).to.match(/^1113 \(1226\)/);
    expect(await refusal('<manager_config><nosuch/></manager_config>')).to.equal(
      "1908 (1230): Invalid element in the configuration: 'nosuch'., (1202): Configuration error at 'etc/manager.conf'. Line 1.",
    );
    expect(checked).to.deep.equal([]);
  });

  it('takes back what a daemon refuses', async () => {
    problems = ['one', 'two'];
    expect(await refusal(NEW)).to.equal('1908 one, two');
    expect(checked).to.deep.equal([NEW]);
  });

  it('goes by api.yaml as it stands in the home', async () => {
    mkdirSync(home.path('api/configuration'), { recursive: true });
    const yaml = home.path('api/configuration/api.yaml');
    writeFileSync(yaml, 'upload_configuration: {remote_commands: {localfile: {allow: no}}}\n');
    expect(await refusal(COMMAND)).to.equal('1124 id');
    expect(logger.lines.join()).to.include('A main configuration sent over the API was not taken: 1124 id');
    writeFileSync(yaml, 'porty: 1\n');
    expect(await refusal(NEW)).to.match(/^1126 2000 - /);
    writeFileSync(yaml, '# an absent key means yes\n');
    await replace(COMMAND);
    expect(inForce()).to.equal(COMMAND);
  });

  it('is taken back at the next start when it was broken off', async () => {
    writeFileSync(home.path('etc/manager.conf.before-upload'), OLD);
    writeFileSync(home.path('etc/manager.conf'), NEW);
    recoverConfiguration(home, logger);
    expect(inForce()).to.equal(OLD);
    expect(logger.lines.join()).to.match(/broken off; the configuration before it is in force again/);
    recoverConfiguration(home, logger);
    expect(logger.lines).to.have.length(1);
    await replace(NEW);
  });
});
