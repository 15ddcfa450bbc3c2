import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import { scanHost } from '../../../../../../daemons/modulesd/inventory/host/scan-host.js';
import { inventoryTable, type InventoryTableName } from '../../../../../../lib/events/inventory/inventory-tables.js';

type Row = Readonly<Record<string, string | number>>;

/** What the tools of this host say of the same. */
describe('tables of this host', function () {
  this.timeout(30_000);

  async function rowsOf(table: InventoryTableName): Promise<Row[]> {
    const rows: Row[] = [];
    const order = { root: '/', tables: [table], allPorts: true, now: Date.now(), nice: 0 };
    await scanHost(order, (news) => {
      if ('failure' in news) throw new Error(news.failure);
      for (const { text } of news.rows) rows.push(JSON.parse(text) as Row);
      return Promise.resolve();
    });
    return rows;
  }

  /** Output of a program; undefined where it is not there. */
  function said(program: string, ...args: readonly string[]): string | undefined {
    try {
      return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 26 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Skips the test, saying for want of what. */
  function orSkip(context: Mocha.Context, text: string | undefined, tool: string): asserts text is string {
    if (text !== undefined) return;
    if (context.test !== undefined) context.test.title += ` (skipped: no ${tool})`;
    context.skip();
  }

  it('have the packages that dpkg-query lists', async function () {
    const format =
      '${db:Status-Status}|${Package}|${Version}|${Architecture}|${Installed-Size}|${Section}|${Maintainer}\\n';
    const text = said('dpkg-query', '-W', '-f', format);
    orSkip(this, text, 'dpkg-query');
    const wanted = text.split('\n').filter((line) => line.startsWith('installed|'));
    const rows = (await rowsOf('packages')).filter((row) => row['format'] === 'deb');
    const shown = rows.map((row) =>
      [
        'installed',
        row['name'],
        row['version'],
        row['architecture'],
        Number(row['size']) / 1024 || '',
        row['groups'],
        row['vendor'],
      ].join('|'),
    );
    expect(shown.sort()).to.deep.equal(wanted.sort());
  });

  it('have the users and groups that getent knows of the files', async function () {
    const text = said('getent', '-s', 'files', 'passwd');
    orSkip(this, text, 'getent');
    const users = (await rowsOf('users')).map((row) =>
      [row['user_name'], row['user_id'], row['user_group_id'], row['user_home'] ?? '', row['user_shell'] ?? ''].join(
        ':',
      ),
    );
    const accounts = text
      .trim()
      .split('\n')
      .map((line) => line.split(':'));
    expect(users.sort()).to.deep.equal(
      [
        ...new Map(
          accounts.map(([name, , uid, gid, , home, shell]) => [name, [name, uid, gid, home, shell].join(':')]),
        ).values(),
      ].sort(),
    );
    const groups = (await rowsOf('groups')).map((row) => `${String(row['group_name'])}:${String(row['group_id'])}`);
    const known = said('getent', '-s', 'files', 'group') ?? '';
    expect(groups.sort()).to.deep.equal(
      known
        .trim()
        .split('\n')
        .map((line) => `${line.split(':')[0]}:${line.split(':')[2]}`)
        .sort(),
    );
  });

  it('have the port that this process listens at, as ss shows it', async function () {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as { port: number };
      const row = (await rowsOf('ports')).find((one) => one['local_port'] === port && one['state'] === 'listening');
      expect(row).to.include({
        protocol: 'tcp',
        local_ip: '127.0.0.1',
        pid: process.pid,
        process: readFileSync('/proc/self/comm', 'utf8').trim(),
        remote_port: 0,
      });
      const text = said('ss', '-Htlnpe', `sport = :${String(port)}`);
      orSkip(this, text, 'ss');
      expect(text).to.contain(`pid=${String(process.pid)}`);
      expect(text).to.contain(`ino:${String(row?.['inode'])} `);
    } finally {
      server.close();
    }
  });

  it('have the addresses and interfaces that ip shows', async function () {
    const text = said('ip', '-j', 'address');
    orSkip(this, text, 'ip');
    type Shown = {
      ifname: string;
      link_type: string;
      mtu: number;
      address?: string;
      operstate: string;
      addr_info: { local: string; broadcast?: string }[];
    };
    const shown = (JSON.parse(text) as Shown[]).filter((one) => one.link_type !== 'loopback');
    const interfaces = (await rowsOf('network_iface')).map((row) =>
      [row['name'], row['mtu'], String(row['state']).toUpperCase()].join(' '),
    );
    expect(interfaces.sort()).to.deep.equal(shown.map((one) => [one.ifname, one.mtu, one.operstate].join(' ')).sort());
    const addresses = (await rowsOf('network_address')).map(
      (row) => `${String(row['iface'])} ${String(row['address'])}`,
    );
    const up = Object.keys(networkInterfaces());
    const wanted = shown
      .filter((one) => up.includes(one.ifname))
      .flatMap((one) => one.addr_info.map(({ local }) => `${one.ifname} ${local}`));
    expect(addresses.sort()).to.deep.equal(wanted.sort());
    const routed = (await rowsOf('network_protocol'))
      .filter((row) => row['gateway'] !== ' ')
      .map((row) => row['gateway']);
    const route = said('ip', '-j', 'route', 'show', 'default') ?? '[]';
    for (const { gateway } of JSON.parse(route) as { gateway?: string }[]) {
      if (gateway !== undefined) expect(routed).to.include(gateway);
    }
  });

  it('have all their columns, and are quick', async () => {
    for (const name of ['hwinfo', 'osinfo', 'processes', 'services', 'browser_extensions'] as const) {
      const columns = new Set(inventoryTable(name)?.columns.map((column) => column.name));
      for (const row of await rowsOf(name)) {
        for (const column of Object.keys(row)) {
          expect(
            columns.has(column) || ['checksum', 'item_id', 'scan_time'].includes(column),
            `${name} ${column}`,
          ).to.equal(true);
        }
      }
    }
    expect((await rowsOf('hwinfo'))[0]?.['ram_total']).to.be.above(0);
    expect((await rowsOf('processes')).some((row) => row['pid'] === '1')).to.equal(true);
  });
});
