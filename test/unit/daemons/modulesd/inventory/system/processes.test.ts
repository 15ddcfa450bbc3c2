import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { HostFiles } from '../../../../../../daemons/modulesd/inventory/host/host-files.js';
import { ScanNotes } from '../../../../../../daemons/modulesd/inventory/host/scan-notes.js';
import { readAccounts } from '../../../../../../daemons/modulesd/inventory/system/accounts.js';
import {
  parseCommandLine,
  parseStat,
  parseStatm,
  parseStatus,
} from '../../../../../../daemons/modulesd/inventory/system/process-files.js';
import { processRow, readProcesses } from '../../../../../../daemons/modulesd/inventory/system/processes.js';
import { FakeRoot } from '../../../../../support/modulesd/fake-root.js';

const STAT =
  '1 (in) it (x) S 0 0 0 0 -1 4194560 21 0 0 0 454 1887 0 0 20 0 13 0 347 44785664 3560 18446744073709551615 1 1 0 0 0 0 0 4096 536962595 0 0 0 17 1 0 0 0 0 0\n';
const STATUS =
  'Name:\tinit\nTgid:\t1\nUid:\t0\t1000\t5\t0\nGid:\t0\t1000\t7\t42\nVmSize:\t   43736 kB\nVmRSS:\t   14240 kB\n';

describe('processes', () => {
  it('are told as real agents tell them', () => {
    const stat = parseStat(STAT);
    if (stat === undefined) throw new Error('no process');
    const names = {
      user: (id: number | undefined) => `u${String(id)}`,
      group: (id: number | undefined) => `g${String(id)}`,
      bootTime: 1_795_218_470,
    };
    const command = parseCommandLine(Buffer.from('/sbin/init\0--system\0caf\xe9\0\0', 'latin1'));
    const row = processRow(
      { pid: 1, stat, status: parseStatus(STATUS), memory: parseStatm('10934 3560 1560 1 0 2 0\n'), command },
      names,
    );
    expect(row).to.deep.equal({
      ...{ pid: '1', name: 'in) it (x', state: 'S', ppid: 0, utime: 454, stime: 1887, cmd: '/sbin/init' },
      ...{ argvs: '--system caf\uFFFD', euser: 'u1000', ruser: 'u0', suser: 'u5', egroup: 'g1000', rgroup: 'g0' },
      ...{ sgroup: 'g7', fgroup: 'g42', priority: 20, nice: 0, size: 10_934, vm_size: 43_736, resident: 14_240 },
      ...{ share: 1560, start_time: 1_795_218_473, pgrp: 0, session: 0, nlwp: 13, tgid: 1, tty: 0, processor: 1 },
    });
  });

  it('are all there though the first have the longest command lines', () => {
    const root = new FakeRoot();
    try {
      const command = Buffer.from(`/bin/x\0${'secretive '.repeat(7000)}\0`);
      for (let pid = 100; pid < 700; pid += 1) {
        root.write(`/proc/${String(pid)}/stat`, STAT.replace('1 (in) it (x)', `${String(pid)} (x)`));
        root.write(`/proc/${String(pid)}/cmdline`, command);
      }
      const rows = readProcesses(root.files(), { users: [], groups: [] });
      expect(rows).to.have.length(600);
      const lengths = rows.map(({ argvs }) => String(argvs).length);
      expect(lengths.reduce((sum, length) => sum + length)).to.be.lessThan(33 * 1024 * 1024);
      expect(Math.min(...lengths)).to.be.greaterThan(400);
      expect(root.notes.map(({ kind }) => kind)).to.deep.equal(['cut']);
    } finally {
      root.remove();
    }
  });

  it('are those of the host, without what is no process', () => {
    const root = new FakeRoot();
    try {
      root.write('/proc/stat', 'cpu 1\nbtime 1700000000\n');
      root.write('/proc/12/stat', STAT.replace('1 (in) it (x)', '12 (kthreadd)'));
      root.write('/proc/12/status', 'Uid:\t0\t0\t0\t0\nGid:\t77\t77\t77\t77\n');
      root.write('/proc/13/stat', 'ended');
      root.write('/proc/fs/stat', STAT);
      const accounts = { users: [{ name: 'root', uid: 0, gid: 0, fullName: '', home: '/', shell: '' }], groups: [] };
      const [row, ...others] = readProcesses(root.files(), accounts);
      expect(others).to.deep.equal([]);
      expect(row).to.include({ pid: '12', name: 'kthreadd', cmd: 'kthreadd', argvs: '', euser: 'root', egroup: '77' });
      expect(row).to.include({ vm_size: 0, resident: 0, size: 0, tgid: 0, start_time: 1_700_000_003 });
      expect(root.notes).to.deep.equal([]);
    } finally {
      root.remove();
    }
  });

  it('have this one among them, as it is', () => {
    const files = new HostFiles('/', new ScanNotes());
    const own = readProcesses(files, readAccounts(files)).find(({ pid }) => pid === String(process.pid));
    expect(own).to.include({
      ppid: process.ppid,
      name: readFileSync('/proc/self/comm', 'utf8').trim(),
      tgid: process.pid,
    });
    expect(own?.['cmd']).to.equal(readFileSync('/proc/self/cmdline', 'utf8').split('\0')[0]);
    const age = Date.now() / 1000 - Number(own?.['start_time']);
    expect(age).to.be.closeTo(process.uptime(), 3);
  });

  it('survive any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(STAT.length), (text, at) => {
        parseStat(text);
        parseStat(STAT.slice(0, at) + text + STAT.slice(at));
        parseStatus(text);
        parseStatm(text);
        parseCommandLine(Buffer.from(text));
      }),
    );
  });
});
