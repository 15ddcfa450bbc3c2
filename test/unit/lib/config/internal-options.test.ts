import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError } from '../../../../lib/config/config-error.js';
import { INTERNAL_OPTIONS } from '../../../../lib/config/internal-option-table.js';
import { loadInternalOptions } from '../../../../lib/config/internal-options.js';
import { Home } from '../../../../lib/home/home.js';
import { productRoot } from '../../../../lib/product/product-root.js';

const SHIPPED = readFileSync(new URL('etc/internal_options.conf', productRoot()), 'utf8');

describe('internal options', () => {
  let home: Home;

  beforeEach(() => {
    home = new Home(mkdtempSync(join(tmpdir(), 'svc-options-')));
    mkdirSync(home.path('etc'));
  });

  afterEach(() => {
    rmSync(home.root, { recursive: true });
  });

  function write(shipped: string, local?: string): void {
    writeFileSync(home.path('etc/internal_options.conf'), shipped);
    if (local !== undefined) {
      writeFileSync(home.path('etc/local_internal_options.conf'), local);
    }
  }

  function errorOf(run: () => unknown): ConfigError {
    try {
      run();
    } catch (error) {
      if (error instanceof ConfigError) {
        return error;
      }
    }
    throw new Error('no ConfigError');
  }

  it('are all in the shipped file, with their defaults', () => {
    write(SHIPPED);
    const options = loadInternalOptions(home);
    expect(options.warnings).to.deep.equal([]);
    for (const [name, { initial }] of Object.entries(INTERNAL_OPTIONS)) {
      expect(options.get(name as keyof typeof INTERNAL_OPTIONS), name).to.equal(initial);
    }
  });

  it('come from the local file first, and there from the first definition', () => {
    write(
      SHIPPED,
      '# mine\r\n\n  monitord.day_wait=0\r\nmonitord.day_wait=5\nwazuh_modules.task_nice=-20\nmonitord.new=1\n',
    );
    const options = loadInternalOptions(home, ['monitord', 'wazuh_modules']);
    expect(options.get('monitord.day_wait')).to.equal(0);
    expect(options.get('wazuh_modules.task_nice')).to.equal(-20);
    expect(options.warnings.map(({ line, text }) => `${String(line)} ${text}`)).to.deep.equal([
      "4 Internal option 'monitord.day_wait' is defined twice; the first counts.",
      "6 Internal option not known: 'monitord.new=1'.",
    ]);
  });

  it('are refused with 2301 when neither file defines one', () => {
    write(SHIPPED.replace('monitord.day_wait=10\n', ''));
    const error = errorOf(() => loadInternalOptions(home, ['monitord']));
    expect(error.text).to.equal("(2301): Definition not found for: 'monitord.day_wait'.");
    expect(loadInternalOptions(home, ['execd']).get('execd.request_timeout')).to.equal(60);
    rmSync(home.path('etc/internal_options.conf'));
    expect(errorOf(() => loadInternalOptions(home))).to.include({ code: 2301 });
  });

  it('of this product have their default where files that were taken over lack them', () => {
    write(SHIPPED.replace(/^wazuh_download\.(max_size|timeout|verify_certificates)=.*\n/gm, ''));
    const options = loadInternalOptions(home, ['wazuh_download']);
    expect(options.warnings).to.deep.equal([]);
    expect(options.get('wazuh_download.max_size')).to.equal(64);
    expect(options.get('wazuh_download.timeout')).to.equal(300);
    expect(options.get('wazuh_download.verify_certificates')).to.equal(1);
    write(SHIPPED, 'wazuh_download.max_size=0\n');
    expect(errorOf(() => loadInternalOptions(home, ['wazuh_download']))).to.include({ code: 2302 });
  });

  for (const value of ['601', '', 'ten', '1 0', '0x1', '-1', '1e2', '9'.repeat(40)]) {
    it(`are refused with 2302 for the value '${value}'`, () => {
      write(SHIPPED, `\nmonitord.day_wait=${value}\n`);
      const error = errorOf(() => loadInternalOptions(home, ['monitord']));
      expect(error.text).to.equal(`(2302): Invalid definition for monitord.day_wait: '${value}'.`);
      expect(error).to.include({ file: 'etc/local_internal_options.conf', line: 2 });
    });
  }

  it('know that fewer than 100 lines a turn make no sense', () => {
    write(SHIPPED, 'logcollector.max_lines=99');
    expect(errorOf(() => loadInternalOptions(home, ['logcollector']))).to.include({ code: 2302 });
    write(SHIPPED, 'logcollector.max_lines=0');
    expect(loadInternalOptions(home, ['logcollector']).get('logcollector.max_lines')).to.equal(0);
  });

  it('of another area cannot be read by mistake', () => {
    write(SHIPPED);
    const options = loadInternalOptions(home, ['execd']);
    // @ts-expect-error the type refuses it too
    expect(() => options.get('monitord.day_wait')).to.throw(TypeError);
  });
});
