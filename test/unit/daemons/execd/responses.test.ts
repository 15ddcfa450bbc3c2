import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { respond } from '../../../../daemons/execd/scripts/respond.js';
import { appendResponseLog } from '../../../../daemons/execd/scripts/response-log.js';
import { Tools } from '../../../../daemons/execd/scripts/tools.js';
import { removeTree } from '../../../support/remove-tree.js';

/** Tools that note how they were called, one line a call; the rest of each is what it does. */
const NOTE = `#!/bin/sh\ncd "$(dirname "$0")/.." || exit 9\nprintf '%s %s\\n' "$(basename "$0")" "$*" >> calls\n`;

const NFT = `${NOTE}case "$1" in
-f) cat > script; grep 'add element' script >> elements;;
get|delete)
  if [ -s busy ]; then sed -i 1d busy; echo 'Error: Could not process rule: Interrupted system call' >&2; exit 1; fi
  grep -q "$6" elements || { echo 'Error: Could not process rule: No such file or directory' >&2; exit 1; }
  [ "$1" = get ] || { grep -v "$6" elements > left; mv left elements; };;
esac
`;
const IPTABLES = `${NOTE}shift
case "$1" in
-C) shift; grep -qx "$*" rules || exit 1;;
-I) shift; echo "$*" >> rules;;
-D) shift; grep -vx "$*" rules > left; mv left rules;;
esac
exit 0
`;

describe('our active responses', () => {
  let root: string;
  let restarts: number;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-responses-'));
    restarts = 0;
    for (const directory of ['tools', 'etc', 'logs', 'active-response']) mkdirSync(join(root, directory));
    for (const file of ['elements', 'rules', 'calls']) writeFileSync(join(root, file), '');
    writeFileSync(
      join(root, 'etc', 'passwd'),
      'root:x:0:0::/:/bin/sh\ntoor:x:0:0::/:/bin/sh\njo:x:1000:1000::/:/bin/sh\n',
    );
  });
  afterEach(() => {
    removeTree(root);
  });

  function tool(name: string, text: string, mode = 0o755): void {
    writeFileSync(join(root, 'tools', name), text);
    chmodSync(join(root, 'tools', name), mode);
  }
  const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');
  const calls = () => read('calls').trimEnd().split('\n');
  const logged = () =>
    read('logs', 'active-responses.log')
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/^2025\/06\/05 10:11:12 active-response\/bin\/[a-z-]+: /, ''));

  /** One run of a response. @returns its exit code and what it asked */
  async function run(name: string, order: 'add' | 'delete', data: object, answer = 'continue') {
    const message = { version: 1, origin: { name: 'n', module: 'wazuh-execd' }, parameters: { alert: { data } } };
    const lines = [JSON.stringify({ ...message, command: order }), JSON.stringify({ ...message, command: answer })];
    let asked = '';
    const called = `active-response/bin/${name}`;
    const code = await respond({
      called,
      host: {
        tools: new Tools([join(root, 'tools')]),
        home: root,
        etc: join(root, 'etc'),
        restart: () => Promise.resolve(void (restarts += 1)),
      },
      readLine: () => Promise.resolve(lines.shift()),
      write: (text) => (asked += text),
      log: (text) => {
        appendResponseLog(root, called, text, new Date(2025, 5, 5, 10, 11, 12));
      },
    });
    return { code, asked };
  }
  const add = (name: string, srcip: string) => run(name, 'add', { srcip });
  const remove = (name: string, srcip: string) => run(name, 'delete', { srcip });

  it('log what they are told and what they ask, in the shape that decoders know', async () => {
    const { code, asked } = await add('host-deny', '203.0.113.9');
    expect(code).to.equal(0);
    const question =
      '{"version":1,"origin":{"name":"host-deny","module":"active-response"},"command":"check_keys","parameters":{"keys":["203.0.113.9"]}}';
    expect(asked).to.equal(`${question}\n`);
    const order = (command: string) =>
      `{"version":1,"origin":{"name":"n","module":"wazuh-execd"},"parameters":{"alert":{"data":{"srcip":"203.0.113.9"}}},"command":"${command}"}`;
    expect(logged()).to.deep.equal(['Starting', order('add'), question, order('continue'), 'Ended']);
    expect(read('logs', 'active-responses.log')).to.match(
      /^2025\/06\/05 10:11:12 active-response\/bin\/host-deny: Starting\n/,
    );
  });

  it('do nothing when they are told to abort', async () => {
    expect((await run('host-deny', 'add', { srcip: '203.0.113.9' }, 'abort')).code).to.equal(0);
    expect(existsSync(join(root, 'etc', 'hosts.deny'))).to.equal(false);
    expect(logged().at(-1)).to.equal('Aborted');
  });

  it('refuse what is no address or no user', async () => {
    for (const srcip of [
      '203.0.113.9; reboot',
      '300.1.1.1',
      'fe80::1%eth0',
      '-j',
      '203.0.113.9/0',
      '',
      'host.example',
    ]) {
      expect((await add('host-deny', srcip)).code, srcip).to.equal(1);
      expect(logged().at(-1)).to.equal("Cannot read 'srcip' from data or invalid IP format");
    }
    expect((await run('host-deny', 'add', {})).code).to.equal(1);
    expect(logged().at(-1)).to.equal("Cannot read 'srcip' from data");
    for (const dstuser of ['-d', 'a b', '', 'a;b', '$(id)', '../x']) {
      expect((await run('disable-account', 'add', { dstuser })).code, dstuser).to.equal(1);
      expect(logged().at(-1)).to.equal("Cannot read 'dstuser' from data or invalid username format");
    }
    expect((await run('host-deny', 'add', { srcip: '203.0.113.9' }, 'perhaps')).code).to.equal(1);
    expect(logged().at(-1)).to.equal("Invalid value of 'command'");
    expect((await run('unheard-of', 'add', {})).code).to.equal(1);
  });

  it('drop packets by an element of our own nftables set', async () => {
    tool('nft', NFT);
    tool('iptables', IPTABLES);
    expect((await add('firewall-drop', '203.0.113.9')).code).to.equal(0);
    expect((await add('firewall-drop', '2001:DB8::9')).code).to.equal(0);
    expect(read('elements').trimEnd().split('\n')).to.deep.equal([
      'add element inet security_manager blocked4 { 203.0.113.9 }',
      'add element inet security_manager blocked6 { 2001:db8::9 }',
    ]);
    expect(read('script')).to.match(/^add table inet security_manager\n/);
    expect(read('script')).to.include('add rule inet security_manager forward ip6 saddr @blocked6 drop\n');
    expect(calls()).to.deep.equal(['nft -f -', 'nft -f -']);
    expect((await remove('firewall-drop', '203.0.113.9')).code).to.equal(0);
    expect((await remove('firewall-drop', '203.0.113.9')).code).to.equal(0);
    expect(read('elements')).to.equal('add element inet security_manager blocked6 { 2001:db8::9 }\n');
  });

  it('let in again while others change the firewall, and say so when that does not go', async () => {
    tool('nft', NFT);
    tool('iptables', IPTABLES);
    await add('firewall-drop', '203.0.113.9');
    const element = read('elements');
    writeFileSync(join(root, 'busy'), 'once\n'.repeat(20));
    expect((await remove('firewall-drop', '203.0.113.9')).code).to.equal(1);
    expect(logged().at(-2)).to.match(/tools\/nft ended with code 1: .*Interrupted system call$/);
    expect(read('elements')).to.equal(element);
    writeFileSync(join(root, 'busy'), 'once\n'.repeat(2));
    expect((await remove('firewall-drop', '203.0.113.9')).code).to.equal(0);
    expect(read('elements')).to.equal('');
  });

  it('drop packets by iptables where nftables is not there or does not work', async () => {
    tool('iptables', IPTABLES);
    tool('ip6tables', IPTABLES);
    const rules = ['INPUT', 'FORWARD'].map((chain) => `${chain} -s 203.0.113.9 -j DROP\n`).join('');
    await add('firewall-drop', '203.0.113.9');
    await add('firewall-drop', '::ffff:203.0.113.9');
    expect(read('rules')).to.equal(rules);
    await remove('firewall-drop', '203.0.113.9');
    expect([read('rules'), (await remove('firewall-drop', '203.0.113.9')).code]).to.deep.equal(['', 0]);
    tool('nft', `${NOTE}echo 'Operation not permitted' >&2; exit 1\n`);
    expect((await add('default-firewall-drop', '203.0.113.9')).code).to.equal(0);
    expect(read('rules')).to.equal(rules);
    expect((await remove('default-firewall-drop', '203.0.113.9')).code).to.equal(0);
    expect(read('rules')).to.equal('');
    await add('firewall-drop', '2001:db8::9');
    expect(calls().at(-1)).to.equal('ip6tables -w -I FORWARD -s 2001:db8::9 -j DROP');
  });

  it('say what is not there and what does not work', async () => {
    expect((await add('firewall-drop', '203.0.113.9')).code).to.equal(1);
    expect(logged().slice(-2)).to.deep.equal(['There is neither nft nor iptables', 'Ended']);
    tool('nft', `${NOTE}echo 'Operation not permitted' >&2; exit 1\n`);
    expect((await remove('firewall-drop', '203.0.113.9')).code).to.equal(1);
    expect(logged().at(-2)).to.match(/tools\/nft ended with code 1: Operation not permitted$/);
    tool('nft', NFT, 0o777);
    expect((await add('firewall-drop', '203.0.113.9')).code).to.equal(1);
    expect(logged().at(-2)).to.equal('There is neither nft nor iptables');
    expect((await add('route-null', '203.0.113.9')).code).to.equal(1);
    expect((await run('disable-account', 'add', { dstuser: 'jo' })).code).to.equal(1);
  });

  it('keep hosts.deny as it is but for their lines', async () => {
    const path = join(root, 'etc', 'hosts.deny');
    writeFileSync(path, '# caf\xe9\nALL: PARANOID', 'latin1');
    chmodSync(path, 0o640);
    for (const ip of ['203.0.113.9', '203.0.113.9', '2001:db8::9']) {
      expect((await add('host-deny', ip)).code).to.equal(0);
    }
    expect(readFileSync(path, 'latin1')).to.equal('# caf\xe9\nALL: PARANOID\nALL:203.0.113.9\nALL:[2001:db8::9]\n');
    for (const ip of ['203.0.113.9', '2001:db8::9', '203.0.113.9']) {
      expect((await remove('host-deny', ip)).code).to.equal(0);
    }
    expect(readFileSync(path, 'latin1')).to.equal('# caf\xe9\nALL: PARANOID\n');
  });

  it('change hosts.deny one after the other', async () => {
    const addresses = Array.from({ length: 8 }, (_, index) => `203.0.113.${String(index)}`);
    await Promise.all(addresses.map((address) => add('host-deny', address)));
    expect(read('etc', 'hosts.deny').trimEnd().split('\n')).to.have.members(
      addresses.map((address) => `ALL:${address}`),
    );
    expect(existsSync(join(root, 'active-response', 'hosts.deny.lock'))).to.equal(false);
  });

  it('send packets nowhere', async () => {
    tool('ip', `${NOTE}case "$*" in *show*) cat shown;; esac\n`);
    writeFileSync(join(root, 'shown'), '');
    await add('route-null', '203.0.113.9');
    await remove('route-null', '203.0.113.9');
    writeFileSync(join(root, 'shown'), 'blackhole 2001:db8::9 dev lo\n');
    await remove('route-null', '2001:db8::9');
    expect(calls()).to.deep.equal([
      'ip -4 route replace blackhole 203.0.113.9/32',
      'ip -4 route show type blackhole 203.0.113.9/32',
      'ip -6 route show type blackhole 2001:db8::9/128',
      'ip -6 route del blackhole 2001:db8::9/128',
    ]);
  });

  it('send packets nowhere with the older tool, too', async () => {
    tool('route', `${NOTE}case "$1" in -n) cat shown;; esac\n`);
    writeFileSync(join(root, 'shown'), '203.0.113.9  -  255.255.255.255 !H  0 -  0 -\n');
    await add('route-null', '203.0.113.9');
    await add('route-null', '203.0.113.10');
    await remove('route-null', '203.0.113.9');
    expect(calls().filter((line) => line !== 'route -n')).to.deep.equal([
      'route add -host 203.0.113.10 reject',
      'route del -host 203.0.113.9 reject',
    ]);
  });

  it('lock accounts, never those of root, and leave those locked that were', async () => {
    tool('passwd', `${NOTE}case "$1" in -S) echo "$2 $(cat state) 2025-01-01";; esac\n`);
    const state = (text: string) => writeFileSync(join(root, 'state'), text);
    const account = (order: 'add' | 'delete', dstuser: string) => run('disable-account', order, { dstuser });
    state('P');
    await account('add', 'jo');
    await account('delete', 'jo');
    state('LK');
    await account('add', 'jo');
    await account('delete', 'jo');
    expect(calls().filter((line) => !line.includes('-S'))).to.deep.equal([
      'passwd -l jo',
      'passwd -u jo',
      'passwd -l jo',
    ]);
    for (const user of ['root', 'toor']) expect((await account('add', user)).code).to.equal(1);
    expect(logged().at(-2)).to.equal("Account 'toor' has the rights of root and is not disabled");
  });

  it('restart what runs on the home', async () => {
    for (const name of ['restart-manager', 'restart-wazuh']) expect((await run(name, 'add', {})).code).to.equal(0);
    expect(restarts).to.equal(2);
    await run('restart-manager', 'add', {}, 'abort');
    expect(restarts).to.equal(2);
  });
});
