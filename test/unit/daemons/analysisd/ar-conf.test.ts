import { chmodSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { arConfText, writeArConf } from '../../../../daemons/analysisd/ar-conf.js';
import { parseManagerConfig } from '../../../../lib/config/load-manager-config.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const RESTARTS = `restart-ossec0 - restart-ossec.sh - 0
restart-ossec0 - restart-ossec.cmd - 0
restart-wazuh0 - restart-ossec.sh - 0
restart-wazuh0 - restart-ossec.cmd - 0
restart-wazuh0 - restart-wazuh - 0
restart-wazuh0 - restart-wazuh.exe - 0
`;
const command = (name: string, timeout: 'yes' | 'no'): string =>
  `<command><name>${name}</name><executable>${name}.sh</executable><timeout_allowed>${timeout}</timeout_allowed></command>`;
const response = (name: string, more: string): string =>
  `<active-response><command>${name}</command><location>local</location>${more}</active-response>`;

describe('ar.conf', () => {
  let home: TemporaryHome;
  const logger = new RecordingLogger();
  const path = (): string => home.path('etc', 'shared', 'ar.conf');

  beforeEach(() => {
    home = new TemporaryHome();
    logger.lines.length = 0;
  });
  afterEach(() => {
    home.remove();
  });

  it('lists the restarts, then the responses in the order of the configuration', () => {
    const { responses } = parseManagerConfig(
      `<manager_config>${command('host-deny', 'yes')}${command('mail', 'no')}
      ${response('mail', '<level>3</level><timeout>600</timeout>')}
      ${response('host-deny', '<level>5</level><timeout>600</timeout>')}
      ${response('host-deny', '<level>6</level><disabled>yes</disabled>')}
      ${response('host-deny', '<rules_id>5710</rules_id>')}</manager_config>`,
      'etc/manager.conf',
      ['active-response'],
    )['active-response'];
    expect(arConfText(responses)).to.equal(
      `${RESTARTS}mail0 - mail.sh - 0\nhost-deny600 - host-deny.sh - 600\nhost-deny0 - host-deny.sh - 0\n`,
    );
    const twoLines = { command: { name: 'a\nb', executable: 'c\nd' }, timeout: 1 };
    expect(arConfText([twoLines])).to.equal(`${RESTARTS}a b1 - c d - 1\n`);
  });

  it('is written as a whole, with its mode, and only when it differs', () => {
    writeArConf(home, [], logger);
    expect(readFileSync(path(), 'utf8')).to.equal(RESTARTS);
    expect(statSync(path()).mode & 0o777).to.equal(0o640);
    const { ino, mtimeMs } = statSync(path());
    writeArConf(home, [], logger);
    expect(statSync(path())).to.include({ ino, mtimeMs });
    writeFileSync(path(), RESTARTS.replace('ossec0', 'other0'));
    writeArConf(home, [], logger);
    expect(readFileSync(path(), 'utf8')).to.equal(RESTARTS);
    chmodSync(path(), 0o600);
    writeArConf(home, [], logger);
    expect(statSync(path()).mode & 0o777).to.equal(0o640);
    expect(readdirSync(home.path('etc', 'shared'))).to.deep.equal(['ar.conf']);
    expect(logger.lines).to.deep.equal([]);
  });

  it('takes the place of a link, and leaves what the link leads to', () => {
    writeArConf(home, [], logger);
    rmSync(path());
    writeFileSync(home.path('etc', 'elsewhere'), RESTARTS);
    symlinkSync(home.path('etc', 'elsewhere'), path());
    writeArConf(home, [{ command: { name: 'x', executable: 'y' }, timeout: 0 }], logger);
    expect(readFileSync(path(), 'utf8')).to.equal(`${RESTARTS}x0 - y - 0\n`);
    expect(readFileSync(home.path('etc', 'elsewhere'), 'utf8')).to.equal(RESTARTS);
  });

  it('says what is in the way', () => {
    writeFileSync(home.path('etc', 'shared'), 'a file');
    writeArConf(home, [], logger);
    expect(logger.lines).to.have.lengthOf(1);
    expect(logger.lines[0]).to.match(/^error: Agents are not told of the active responses, 'etc\/shared\/ar.conf': ./);
  });
});
