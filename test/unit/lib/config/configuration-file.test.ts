import { copyFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { checkConfiguration } from '../../../../lib/config/check-configuration.js';
import { ConfigError } from '../../../../lib/config/config-error.js';
import { loadManagerConfig } from '../../../../lib/config/load-manager-config.js';
import { productRoot } from '../../../../lib/product/product-root.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

describe('main configuration of a home', () => {
  let home: TemporaryHome;

  beforeEach(() => {
    home = new TemporaryHome();
  });

  afterEach(() => {
    home.remove();
  });

  function conf(name: string, logall: string): void {
    writeFileSync(home.path('etc', name), `<ossec_config><global><logall>${logall}</logall></global></ossec_config>`);
  }

  it('is valid as shipped, without a warning', () => {
    copyFileSync(fileURLToPath(new URL('etc/manager.conf', productRoot())), home.path('etc/manager.conf'));
    expect(checkConfiguration(home, 'server')).to.deep.equal({ mistakes: [], noEffect: [], warnings: [] });
    const config = loadManagerConfig(home);
    expect(config.warnings).to.deep.equal([]);
    expect(config.localfile.map(({ location }) => location)).to.include('/var/log/auth.log');
    expect(config.ruleset.decoder_dir.map(({ path }) => path)).to.deep.equal(['ruleset/decoders', 'etc/decoders']);
    expect(config.auth?.disabled).to.equal(false);
    expect(config.cluster?.disabled).to.equal(true);
  });

  it('is manager.conf, or ossec.conf where that is absent', () => {
    conf('ossec.conf', 'yes');
    expect(loadManagerConfig(home)).to.deep.include({ file: 'etc/ossec.conf', warnings: [] });
    expect(loadManagerConfig(home).global.logall).to.equal(true);
    conf('manager.conf', 'no');
    const both = loadManagerConfig(home);
    expect(both.file).to.equal('etc/manager.conf');
    expect(both.global.logall).to.equal(false);
    expect(both.warnings.map(({ text }) => text)).to.deep.equal([
      "Both 'etc/manager.conf' and 'etc/ossec.conf' exist; 'etc/ossec.conf' is ignored.",
    ]);
  });

  it('is refused when it is absent, a directory or too large', () => {
    expect(() => loadManagerConfig(home)).to.throw(
      ConfigError,
      "(1103): Could not open file 'etc/manager.conf' due to [(2)-(no such file or directory)].",
    );
    expect(checkConfiguration(home, 'server').mistakes).to.have.length(1);
    conf('manager.conf', 'no');
    truncateSync(home.path('etc/manager.conf'), 10_485_761);
    expect(() => loadManagerConfig(home)).to.throw(ConfigError, 'at most 10485760 are allowed');
    rmSync(home.path('etc/manager.conf'));
    rmSync(home.path('etc/home.json'));
  });

  it('may be Latin-1', () => {
    writeFileSync(
      home.path('etc/manager.conf'),
      Buffer.from('<manager_config><labels><label key="a">caf\xe9</label></labels></manager_config>', 'latin1'),
    );
    const config = loadManagerConfig(home);
    expect(config.labels[0]!.value).to.equal('café');
    expect(config.warnings).to.have.length(1);
  });

  it('is checked section by section, with every error', () => {
    writeFileSync(
      home.path('etc/manager.conf'),
      '<manager_config>\n<auth><port>x</port></auth>\n<global><logall>1</logall></global>\n<alerts/>\n</manager_config>',
    );
    const { mistakes } = checkConfiguration(home, 'server');
    expect(mistakes.map(({ error, owner }) => [owner, error.message])).to.deep.equal([
      ['svc-authd', "(1235): Invalid value for element 'port': x. (etc/manager.conf, line 2)"],
      ['svc-analysisd', "(1235): Invalid value for element 'logall': 1. (etc/manager.conf, line 3)"],
    ]);
  });
});
