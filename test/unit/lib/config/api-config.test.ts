import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { sizeInBytes } from '../../../../lib/config/api-config.js';
import {
  API_YAML,
  ApiConfigError,
  loadApiConfig,
  loadSecurityConfig,
  parseApiConfig,
  SECURITY_YAML,
} from '../../../../lib/config/load-api-config.js';
import { productRoot } from '../../../../lib/product/product-root.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const SHIPPED = readFileSync(new URL('etc/api/api.yaml', productRoot()), 'utf8');

function errorOf(run: () => unknown): ApiConfigError {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiConfigError) {
      return error;
    }
    throw error;
  }
  throw new Error('no error');
}

const DEFAULTS = {
  host: ['0.0.0.0', '::'],
  port: 55000,
  drop_privileges: true,
  experimental_features: false,
  docs: { enabled: true },
  console: { enabled: true },
  max_upload_size: 10485760,
  authentication_pool_size: 2,
  intervals: { request_timeout: 10 },
  https: {
    enabled: true,
    key: 'server.key',
    cert: 'server.crt',
    ca: 'ca.crt',
    use_ca: false,
    ssl_protocol: 'auto',
    ssl_ciphers: '',
  },
  logs: { level: 'info', format: 'plain', max_size: { enabled: false, size: '1m' } },
  cors: { enabled: false, source_route: '*', expose_headers: '*', allow_headers: '*', allow_credentials: false },
  access: { max_login_attempts: 50, block_time: 300, max_request_per_minute: 300 },
  upload_configuration: {
    remote_commands: {
      localfile: { allow: true, exceptions: [] },
      wodle_command: { allow: true, exceptions: [] },
    },
    file_contents: { allow: true, exceptions: [] },
    limits: { eps: { allow: true } },
    agents: { allow_higher_versions: { allow: true } },
    indexer: { allow: true },
    integrations: { virustotal: { public_key: { allow: true, minimum_quota: 240 } } },
  },
  compatibility: { daemon_names: 'svc' },
};

describe('api.yaml', () => {
  it('has defaults for everything', () => {
    for (const text of ['', '# nothing\n', '---\n', 'logs:\ncors:\n  # all commented\n']) {
      expect(parseApiConfig(text, API_YAML)).to.deep.equal({ config: DEFAULTS, warnings: [] });
    }
  });

  it('is shipped with comments that are the defaults, and without remote commands', () => {
    const off = { allow: false, exceptions: [] };
    const FILES = { allow: false, exceptions: ['/var/log'] };
    const upload = {
      ...DEFAULTS.upload_configuration,
      remote_commands: { localfile: off, wodle_command: off },
      file_contents: FILES,
    };
    const shipped = { ...DEFAULTS, upload_configuration: upload };
    expect(parseApiConfig(SHIPPED, API_YAML)).to.deep.equal({ config: shipped, warnings: [] });
    const uncommented = SHIPPED.split('\n')
      .filter((line) => !line.startsWith('#') || /^# ( *[a-z_]+:)/.test(line))
      .map((line) => line.replace(/^# /, ''))
      .join('\n');
    expect(parseApiConfig(uncommented, API_YAML).config).to.deep.equal(shipped);
  });

  it('merges a partial section with its defaults and reads yes, no and upper case', () => {
    const { config } = parseApiConfig(
      `${'port: 0\nhttps:\n  Enabled: no\n'.replace(
        'Enabled',
        'enabled',
      )}  key: My-Key.PEM\n  ssl_protocol: TLSv1.2\nlogs:\n  level: DEBUG2\n  max_size: {enabled: true, size: 2048K}\n` +
        `cors:\n  expose_headers: [A, B]\nupload_configuration:\n  remote_commands:\n    localfile:\n      allow: no\n      exceptions: [Uptime]\n`,
      API_YAML,
    );
    expect(config.port).to.equal(0);
    expect(config.https).to.deep.equal({
      ...DEFAULTS.https,
      enabled: false,
      key: 'My-Key.PEM',
      ssl_protocol: 'tlsv1.2',
    });
    expect(config.logs).to.deep.equal({ level: 'debug2', format: 'plain', max_size: { enabled: true, size: '2048k' } });
    expect(config.cors.expose_headers).to.deep.equal(['a', 'b']);
    expect(config.upload_configuration.remote_commands).to.deep.equal({
      localfile: { allow: false, exceptions: ['uptime'] },
      wodle_command: { allow: true, exceptions: [] },
    });
    expect(sizeInBytes('2048k')).to.equal(2 * 1024 ** 2);
  });

  it('takes one address as a plain text, the form before 4.9', () => {
    expect(parseApiConfig('host: 0.0.0.0', API_YAML).config.host).to.deep.equal(['0.0.0.0']);
    expect(parseApiConfig('host: "::1"', API_YAML)).to.deep.include({ warnings: [] });
  });

  it('accepts old keys with a warning', () => {
    const { config, warnings } = parseApiConfig(
      'use_only_authd: yes\ncache:\n  enabled: yes\n  time: 0.75\nlogs:\n  path: a\n',
      API_YAML,
    );
    expect(config).to.deep.equal(DEFAULTS);
    expect(warnings.map(({ line, text }) => `${String(line)} ${text}`)).to.deep.equal([
      "1 Key 'use_only_authd' is old and has no effect.",
      "6 Key 'logs.path' is old and has no effect.",
      "3 Key 'cache.enabled' is old and has no effect.",
      "4 Key 'cache.time' is old and has no effect.",
    ]);
  });

  const REFUSED: readonly (readonly [string, string | undefined, number])[] = [
    ['port: 55000\nprot: 1\n', 'prot', 2],
    ['logs:\n  level: info\n  levl: debug\n', 'logs.levl', 3],
    ['logs:\n  max_size:\n    size: 512K\n', 'logs.max_size.size', 3],
    ['logs:\n  level: loud\n', 'logs.level', 2],
    ['port: 65536', 'port', 1],
    ['port: -1', 'port', 1],
    ['port: "55000"', 'port', 1],
    ['port: 1.5', 'port', 1],
    ['host: 5', 'host', 1],
    ['host: ""', 'host.0', 1],
    ['host: []', 'host', 1],
    ['host:\n  - ok\n  - 5\n', 'host.1', 3],
    ['authentication_pool_size: 51', 'authentication_pool_size', 1],
    ['https:\n  enabled: maybe', 'https.enabled', 2],
    ['https:\n  key: ../server.key', 'https.key', 2],
    ['https:\n  key: ..', 'https.key', 2],
    ['https:\n  ssl_protocol: sslv3', 'https.ssl_protocol', 2],
    ['https: yes', 'https', 1],
    ['access: {max_login_attempts: many}', 'access.max_login_attempts', 1],
    ['\n\n__proto__:\n  port: 1\n', '__proto__', 3],
    ['logs:\n  __proto__: {level: debug}\n', 'logs.__proto__', 2],
    ['- a\n- b\n', undefined, 0],
    ['text', undefined, 0],
  ];
  for (const [text, key, line] of REFUSED) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      const error = errorOf(() => parseApiConfig(text, API_YAML));
      expect(error).to.include({ code: 2000, key, line });
      expect(error.message).to.match(
        /^2000 - Some parameters are not expected in the configuration file \(api\/configuration\/api\.yaml\): .+\.$/,
      );
      if (line > 0) expect(error.message).to.contain(`(line ${String(line)})`);
    });
  }

  it('refuses what is no YAML, tags, and documents that explode', () => {
    expect(errorOf(() => parseApiConfig('port: [1', API_YAML))).to.include({ code: 2004 });
    expect(errorOf(() => parseApiConfig('a: 1\nb: "x\n', API_YAML)).message).to.match(/\(line \d+\)\.$/);
    expect(errorOf(() => parseApiConfig('port: !!js/function x', API_YAML))).to.include({ code: 2004, line: 1 });
    expect(errorOf(() => parseApiConfig('port: 1\nport: 2', API_YAML))).to.include({ code: 2004, line: 2 });
    const bomb = `a: &a [1,1,1,1,1,1,1,1,1,1]\n${'bcdefgh'
      .split('')
      .map((name, i) => `${name}: &${name} [${Array(10).fill(`*${'abcdefgh'[i]!}`).join(',')}]\n`)
      .join('')}`;
    expect(errorOf(() => parseApiConfig(bomb, API_YAML))).to.include({ code: 2004 });
    expect(errorOf(() => parseApiConfig(`a: ${'['.repeat(5000)}`, API_YAML))).to.include({ code: 2004 });
  });

  it('is read from the home, and may be absent there', () => {
    const home = new TemporaryHome();
    try {
      expect(loadApiConfig(home).config).to.deep.equal(DEFAULTS);
      expect(loadSecurityConfig(home)).to.deep.equal({ auth_token_exp_timeout: 900, rbac_mode: 'white' });
      mkdirSync(home.path('api/configuration/security'), { recursive: true });
      writeFileSync(home.path(API_YAML), 'port: 1234');
      writeFileSync(home.path(SECURITY_YAML), 'auth_token_exp_timeout: 60\nrbac_mode: black\n');
      expect(loadApiConfig(home).config.port).to.equal(1234);
      expect(loadSecurityConfig(home)).to.deep.equal({ auth_token_exp_timeout: 60, rbac_mode: 'black' });
      writeFileSync(home.path(SECURITY_YAML), 'rbac_mode: grey\n');
      expect(errorOf(() => loadSecurityConfig(home))).to.include({ key: 'rbac_mode', line: 1 });
      writeFileSync(home.path(API_YAML), '#'.repeat(300_000));
      expect(errorOf(() => loadApiConfig(home))).to.include({ code: 2004 });
    } finally {
      home.remove();
    }
  });
});
