import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { expect } from 'chai';
import { LastGoodConfiguration } from '../../../../daemons/agentd/shared/last-good-configuration.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const SHARED = 'etc/shared/agent.conf';
const COPY = 'var/last-good/agent.conf';
const conf = (value: string): string =>
  `<agent_config><labels><label key="k">${value}</label></labels></agent_config>\n`;

describe('the copy of the last good agent.conf', () => {
  let home: TemporaryHome;
  let logger: RecordingLogger;
  let lastGood: LastGoodConfiguration;

  beforeEach(() => {
    home = new TemporaryHome({ version: 1, role: 'agent' });
    logger = new RecordingLogger();
    lastGood = new LastGoodConfiguration(home, logger);
    mkdirSync(home.path('etc/shared'));
    writeFileSync(home.path(SHARED), conf('a'));
  });
  afterEach(() => {
    home.remove();
  });

  const copy = (): string => readFileSync(home.path(COPY), 'utf8');

  it('follows what is used, and stays while that is broken or switched off', async () => {
    await lastGood.follow({ state: 'used' });
    expect(copy()).to.equal(conf('a'));
    expect(statSync(home.path(COPY)).mode & 0o777).to.equal(0o640);
    writeFileSync(home.path(SHARED), conf('b'));
    for (const state of ['off', 'refused', 'kept'] as const) await lastGood.follow({ state });
    expect(copy()).to.equal(conf('a'));
    // It was right when it was loaded, and another one came since.
    writeFileSync(home.path(SHARED), '<agent_config><nonsense/></agent_config>');
    await lastGood.follow({ state: 'used' });
    expect(copy()).to.equal(conf('a'));
    writeFileSync(home.path(SHARED), conf('c'));
    writeFileSync(home.path('var/last-good/agent.conf.7.ab.tmp'), 'half');
    await lastGood.follow({ state: 'used' });
    expect(copy()).to.equal(conf('c'));
    expect(readdirSync(home.path('var/last-good'))).to.deep.equal(['agent.conf']);
    rmSync(home.path(SHARED));
    await lastGood.follow({ state: 'none' });
    expect(existsSync(home.path(COPY))).to.equal(false);
    expect(logger.lines).to.deep.equal([]);
  });

  it('is written and removed through no link', async () => {
    const elsewhere = home.path('elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(`${elsewhere}/other.txt`, 'stays');
    mkdirSync(home.path('var'), { recursive: true });
    symlinkSync(elsewhere, home.path('var/last-good'));
    await lastGood.follow({ state: 'used' });
    expect(readdirSync(elsewhere)).to.deep.equal(['other.txt']);
    expect(logger.lines).to.have.length(1);
    expect(logger.lines[0]).to.match(/^warn: No copy of 'etc\/shared\/agent\.conf' is kept.*is not a directory/);
    rmSync(home.path('var/last-good'));
    mkdirSync(home.path('var/last-good'));
    symlinkSync(`${elsewhere}/other.txt`, home.path(COPY));
    await lastGood.follow({ state: 'used' });
    expect(copy()).to.equal(conf('a'));
    expect(readFileSync(`${elsewhere}/other.txt`, 'utf8')).to.equal('stays');
  });
});
