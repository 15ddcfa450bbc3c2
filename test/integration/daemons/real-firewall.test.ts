import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const HELPER = fileURLToPath(new URL('../../support/execd/real-firewall.js', import.meta.url));
const SBIN = '/usr/sbin';
const WORKS = {
  ...{ open: true, added: 'ok', addedTwice: 'ok', dropped: true, othersOpen: true },
  ...{ removed: 'ok', openAgain: true, removedTwice: 'ok' },
};
const ROUTED = {
  open: true,
  added: 'ok',
  addedTwice: 'ok',
  nowhere: true,
  removed: 'ok',
  openAgain: true,
  removedTwice: 'ok',
};

/** Why the real tools cannot be tried here; undefined when they can. */
function missing(...tools: readonly string[]): string | undefined {
  if (process.getuid?.() !== 0) return 'only root has a network of its own';
  if (spawnSync('unshare', ['--net', 'true']).status !== 0) return 'there is no network of its own here';
  const absent = ['ip', ...tools].find((tool) => !existsSync(join(SBIN, tool)));
  return absent === undefined ? undefined : `${absent} is not installed here`;
}

describe('responses with the real tools of the system, in a network of its own', function () {
  this.timeout(60_000);
  const directory = mkdtempSync(join(tmpdir(), 'svc-tools-'));
  after(() => rmSync(directory, { recursive: true }));

  function run(...tools: readonly string[]): unknown {
    const own = mkdtempSync(join(directory, 'tools-'));
    for (const tool of tools) symlinkSync(join(SBIN, tool), join(own, tool));
    const { stdout, stderr, status } = spawnSync('unshare', ['--net', process.execPath, HELPER, own], {
      encoding: 'utf8',
    });
    expect(status, stderr).to.equal(0);
    return JSON.parse(stdout);
  }

  for (const { name, tools } of [
    { name: 'nftables', tools: ['nft'] },
    { name: 'iptables and ip6tables', tools: ['iptables', 'ip6tables'] },
    { name: 'both', tools: ['nft', 'iptables', 'ip6tables'] },
  ]) {
    const why = missing(...tools);
    (why === undefined ? it : it.skip)(
      `drop an address, and nobody else, with ${name}${why === undefined ? '' : ` (${why})`}`,
      () => {
        expect(run(...tools)).to.deep.equal({ '203.0.113.9': WORKS, '2001:db8::9': WORKS });
      },
    );
  }

  const why = missing('nft', 'ip');
  (why === undefined ? it : it.skip)(
    `send answers to an address nowhere${why === undefined ? '' : ` (${why})`}`,
    () => {
      expect(run('nft', 'ip')).to.deep.include({ '192.0.2.77': ROUTED, '2001:db8:77::1': ROUTED });
    },
  );
});
