import { expect } from 'chai';
import fc from 'fast-check';
import { parseGroups, parseUsers } from '../../../../../../daemons/modulesd/inventory/system/accounts.js';
import { groupRows } from '../../../../../../daemons/modulesd/inventory/system/groups.js';
import {
  lastLoginTime,
  loginRecordBytes,
  parseLogins,
  USER_PROCESS,
} from '../../../../../../daemons/modulesd/inventory/system/login-records.js';
import { LoginBook } from '../../../../../../daemons/modulesd/inventory/system/logins.js';
import { parseShadow } from '../../../../../../daemons/modulesd/inventory/system/shadow.js';
import { readUsers } from '../../../../../../daemons/modulesd/inventory/system/users.js';
import { inventoryTable } from '../../../../../../lib/events/inventory/inventory-tables.js';
import { rowChecksum } from '../../../../../../lib/events/inventory/row-marks.js';
import { FakeRoot } from '../../../../../support/modulesd/fake-root.js';

const PASSWD = `root:x:0:0:root:/root:/bin/bash
bin:x:2:2:bin:/bin:/usr/sbin/nologin
ann:x:1000:1000:Ann Example,Room 1,,:/home/ann:/bin/bash
nobody:x:4294967294:65534::/nonexistent:/usr/sbin/nologin
+::::::
# note
broken:x:abc:0::/:
ann:x:1:1::/other:
`;
const GROUP = 'root:x:0:\nbin:x:2:\nsudo:x:27:ann,root\nann:x:1000:\nnogroup:x:65534:\nempty:x:50:\n';

/** A record of utmp as x86 has it. */
function login(type: number, user: string, line: string, host: string, time: number, pid = 0): Buffer {
  const record = Buffer.alloc(loginRecordBytes(true));
  record.writeInt16LE(type, 0);
  record.writeInt32LE(pid, 4);
  record.write(line, 8);
  record.write(user, 44);
  record.write(host, 76);
  record.writeUInt32LE(time, 340);
  return record;
}

describe('users and groups', () => {
  const groupsTable = inventoryTable('groups') ?? { columns: [] };

  it('are the entries of their files, each name once', () => {
    expect(parseUsers(PASSWD).map(({ name, uid }) => `${name} ${String(uid)}`)).to.deep.equal([
      ...['root 0', 'bin 2', 'ann 1000', 'nobody 4294967294'],
    ]);
    expect(parseUsers(PASSWD)[2]).to.include({ fullName: 'Ann Example', home: '/home/ann', shell: '/bin/bash' });
    expect(parseGroups(GROUP)[2]).to.deep.equal({ name: 'sudo', gid: 27, members: ['ann', 'root'] });
  });

  // agent-transcript.md 9: the checksum is that of a real agent.
  it('tell groups as real agents do, with those whose first group it is', () => {
    const rows = groupRows({ users: parseUsers(PASSWD), groups: parseGroups(GROUP) });
    const bin = rows.find(({ group_name: name }) => name === 'bin');
    expect(bin && rowChecksum(bin, groupsTable)).to.equal('451fcd66f348da623f818b8322c241db192d71e2');
    expect(rows.map(({ group_users: users }) => users)).to.deep.equal([
      'root',
      'bin',
      'ann:root',
      'ann',
      'nobody',
      ' ',
    ]);
    expect(groupRows({ users: [], groups: [{ name: 'big', gid: 4_294_967_294, members: [] }] })[0]).to.include({
      ...{ group_id: 4_294_967_294, group_id_signed: -2 },
    });
  });

  it('read passwords without their hashes', () => {
    const shadow = parseShadow(
      'ann:$y$j9T$salt$hash:19800:0:99999:7:30:20000:\nroot:*:19700:0:99999:7:::\noff:!$6$x$y:19700::::::\nopen::0:::::\nx\nnone:!!:::::::\n',
    );
    expect(shadow.get('ann')).to.deep.equal({
      ...{ status: 'active', algorithm: 'yescrypt', lastChange: 19_800 * 86_400, minDays: 0, maxDays: 99_999 },
      ...{ warnDays: 7, inactiveDays: 30, expires: 20_000 * 86_400 },
    });
    expect(shadow.get('root')).to.include({ status: 'not_set', algorithm: '', inactiveDays: -1, expires: -1 });
    expect(shadow.get('off')).to.include({ status: 'locked', algorithm: 'sha512', maxDays: -1 });
    expect(shadow.get('open')).to.include({ status: 'empty', lastChange: 0 });
    expect(shadow.get('none')).to.include({ status: 'not_set' });
    expect(JSON.stringify([...shadow])).to.not.contain('hash');
  });

  it('know who is logged in, who was, and who failed to', () => {
    const root = new FakeRoot();
    try {
      root.write('/etc/shadow', 'ann:$y$j9T$salt$hash:19800:0:99999:7:::\n');
      root.write(
        '/var/run/utmp',
        Buffer.concat([
          login(2, 'reboot', '~', '6.1', 5),
          login(USER_PROCESS, 'ann', 'pts/0', '192.0.2.7', 1_700_000_500, 4242),
          login(USER_PROCESS, 'root', 'tty1', '', 1_700_000_100, 99),
          Buffer.from('half'),
        ]),
      );
      root.write('/var/log/wtmp', Buffer.concat([login(USER_PROCESS, 'bin', 'pts/9', 'x', 1_600_000_000)]));
      root.write('/var/log/btmp', Buffer.concat([1, 2, 3].map((second) => login(6, 'ann', 'ssh', 'evil', second))));
      const lastlog = Buffer.alloc(292 * 3);
      lastlog.writeUInt32LE(1_650_000_000, 292 * 2);
      root.write('/var/log/lastlog', lastlog);
      const book = new LoginBook(root.files(), 'x64');
      book.readLastLogins(
        new Map([
          ['bin', 2],
          ['nobody', 4_294_967_294],
        ]),
      );
      expect(book.of('bin')).to.include({ lastLogin: 1_650_000_000, session: undefined });
      expect(book.of('nobody')).to.equal(undefined);
      const accounts = { users: parseUsers(PASSWD), groups: parseGroups(GROUP) };
      const rows = readUsers(root.files(), accounts);
      if (process.arch === 'x64') {
        expect(rows[2]).to.include({
          ...{ user_name: 'ann', user_groups: 'ann:sudo', user_roles: 'sudo', user_full_name: 'Ann Example' },
          ...{ login_status: 1, login_tty: 'pts/0', login_type: 'user', host_ip: '192.0.2.7', process_pid: 4242 },
          ...{ user_last_login: 1_700_000_500, user_auth_failed_count: 3, user_auth_failed_timestamp: 3 },
          ...{ user_password_status: 'active', user_password_last_change: 19_800 * 86_400 },
        });
        expect(rows[0]).to.include({ user_roles: 'sudo', host_ip: ' ', login_tty: 'tty1', user_auth_failed_count: 0 });
      }
      expect(rows[3]).to.include({
        user_groups: 'nogroup',
        user_uid_signed: -2,
        user_password_status: ' ',
        user_roles: ' ',
      });
      const columns = inventoryTable('users')?.columns.map(({ name }) => name);
      expect(Object.keys(rows[0] ?? {})).to.have.members(columns ?? []);
      expect(root.notes).to.deep.equal([]);
    } finally {
      root.remove();
    }
  });

  it('read the records of hosts with times of 64 bits', () => {
    const record = Buffer.alloc(loginRecordBytes(false));
    record.writeInt16LE(USER_PROCESS, 0);
    record.write('ann', 44);
    record.writeBigInt64LE(5_000_000_000n, 344);
    expect([...parseLogins(record, false)]).to.deep.equal([
      { type: USER_PROCESS, pid: 0, line: '', user: 'ann', host: '', time: 5_000_000_000 },
    ]);
    expect(lastLoginTime(Buffer.alloc(10), false)).to.equal(0);
  });

  it('survive any text', () => {
    const text = fc.array(
      fc.oneof(fc.constantFrom(PASSWD, GROUP, ':', '::::', '__proto__:x:1:1:::'), fc.string({ unit: 'binary' })),
    );
    fc.assert(
      fc.property(text, fc.uint8Array({ maxLength: 900 }), (parts, bytes) => {
        const all = parts.join('\n');
        groupRows({ users: parseUsers(all), groups: parseGroups(all) });
        parseShadow(all);
        for (const short of [true, false]) {
          for (const { user } of parseLogins(Buffer.from(bytes), short)) expect(user.length).to.be.at.most(32);
        }
      }),
    );
  });
});
