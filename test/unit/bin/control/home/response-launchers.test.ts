import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { launcherText, makeResponses } from '../../../../../bin/control/home/response-launchers.js';
import { runScript } from '../../../../../daemons/execd/run-script.js';
import { productRoot } from '../../../../../lib/product/product-root.js';
import { TemporaryHome } from '../../../../support/temporary-home.js';

describe('the files of our active responses', () => {
  let home: TemporaryHome;

  beforeEach(() => {
    home = new TemporaryHome();
    mkdirSync(home.path('active-response', 'bin'), { recursive: true });
  });
  afterEach(() => {
    home.remove();
  });

  const text = (name: string) => readFileSync(home.path('active-response', 'bin', name), 'utf8');
  const product = fileURLToPath(productRoot());

  it('are made once, follow the product, and take the place of nobody else', () => {
    writeFileSync(home.path('active-response', 'bin', 'host-deny'), 'ELF');
    symlinkSync('/bin/true', home.path('active-response', 'bin', 'route-null'));
    const made = makeResponses(home, '/opt/old', undefined);
    expect(made).to.deep.equal([
      'active-response/bin/firewall-drop',
      'active-response/bin/default-firewall-drop',
      'active-response/bin/disable-account',
      'active-response/bin/restart-manager',
      'active-response/bin/restart-wazuh',
    ]);
    expect(statSync(home.path('active-response', 'bin', 'firewall-drop')).mode & 0o777).to.equal(0o750);
    expect(text('firewall-drop')).to.match(/\nexec '\/.*' '\/opt\/old\/dist\/.*response-process\.js' "\$0"\n$/);
    expect(makeResponses(home, '/opt/old', undefined)).to.deep.equal([]);
    expect(makeResponses(home, "/opt/it's new", undefined)).to.deep.equal(made);
    expect(text('firewall-drop')).to.include(String.raw`'/opt/it'\''s new/dist/`);
    expect(text('host-deny')).to.equal('ELF');
  });

  it('run the product with their own path', async () => {
    makeResponses(home, product, undefined);
    mkdirSync(home.path('var', 'control'), { recursive: true });
    const line = JSON.stringify({ version: 1, command: 'add', parameters: { alert: {} } });
    const asked: string[] = [];
    const end = await runScript({
      program: 'active-response/bin/restart-manager',
      directory: home.root,
      line,
      ask: (question) => {
        asked.push(question);
        return Promise.resolve(line.replace('add', 'continue'));
      },
    });
    expect(end).to.deep.equal({ code: 1, late: false, complaint: '' });
    expect(asked).to.deep.equal([
      '{"version":1,"origin":{"name":"restart-manager","module":"active-response"},"command":"check_keys","parameters":{"keys":["restart"]}}',
    ]);
    const logged = readFileSync(home.path('logs', 'active-responses.log'), 'utf8').trimEnd().split('\n');
    expect(logged.map((each) => each.slice('2025/06/05 10:11:12 '.length))).to.deep.equal([
      'active-response/bin/restart-manager: Starting',
      `active-response/bin/restart-manager: ${line}`,
      `active-response/bin/restart-manager: ${asked[0]!}`,
      `active-response/bin/restart-manager: ${line.replace('add', 'continue')}`,
      'active-response/bin/restart-manager: the supervisor does not run',
      'active-response/bin/restart-manager: Ended',
    ]);
  });

  it('quote what they run', () => {
    expect(launcherText('/usr/bin/node', '/a b/$(c)/p.js')).to.include(`exec '/usr/bin/node' '/a b/$(c)/p.js' "$0"\n`);
  });
});
