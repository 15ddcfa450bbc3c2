import { expect } from 'chai';
import fc from 'fast-check';
import { readServices } from '../../../../../../daemons/modulesd/inventory/system/services.js';
import { parseUnitFile } from '../../../../../../daemons/modulesd/inventory/system/unit-file.js';
import { inventoryTable } from '../../../../../../lib/events/inventory/inventory-tables.js';
import { FakeRoot } from '../../../../../support/modulesd/fake-root.js';

const SSH = `# comment
[Unit]
Description=OpenBSD Secure Shell server

[Service]
Type=notify
ExecStartPre=/usr/sbin/sshd -t
ExecStart=-/usr/sbin/sshd -D \\
  $SSHD_OPTS
ExecStart=/bin/other
Restart=on-failure
User=
StandardOutput=append:/var/log/ssh.out

[Install]
WantedBy=multi-user.target
`;

describe('services of systemd', () => {
  let root: FakeRoot;
  beforeEach(() => (root = new FakeRoot()));
  afterEach(() => root.remove());

  it('are read of unit files', () => {
    expect(parseUnitFile(SSH)).to.deep.equal({
      ...{
        description: 'OpenBSD Secure Shell server',
        type: 'notify',
        restart: 'on-failure',
        program: '/usr/sbin/sshd',
      },
      ...{ args: ['-D', '$SSHD_OPTS'], user: '', group: '', workingDirectory: '', rootDirectory: '' },
      ...{ standardOutput: '/var/log/ssh.out', standardError: '', installable: true },
    });
    expect(parseUnitFile('[Service]\nExecStart=/a\nExecStart=\nExecStart=@/b x\n').program).to.equal('/b');
  });

  it('have their states from what systemd leaves in the file system', () => {
    const lib = '/usr/lib/systemd/system';
    root.write(`${lib}/ssh.service`, SSH);
    root.write(`${lib}/once.service`, '[Service]\nType=oneshot\nRemainAfterExit=yes\n');
    root.write(`${lib}/off.service`, SSH);
    root.write(`${lib}/getty@.service`, '[Unit]\nDescription=Getty on %I\n[Install]\nWantedBy=getty.target\n');
    root.write(`${lib}/mine.service`, '[Unit]\nDescription=shipped\n');
    root.write(`${lib}/basic.target`, '[Unit]\n');
    root.write('/etc/systemd/system/mine.service', '[Unit]\nDescription=own\n');
    root.link('/etc/systemd/system/gone.service', '/dev/null');
    root.link('/etc/systemd/system/sshd.service', '/lib/systemd/system/ssh.service');
    root.link('/etc/systemd/system/multi-user.target.wants/ssh.service', `${lib}/ssh.service`);
    root.link('/etc/systemd/system/getty.target.wants/getty@tty1.service', `${lib}/getty@.service`);
    for (const name of ['ssh', 'once', 'getty@tty1']) root.link(`/run/systemd/units/invocation:${name}.service`, 'abc');
    root.write('/sys/fs/cgroup/system.slice/ssh.service/cgroup.procs', '812\n813\n');
    root.write('/sys/fs/cgroup/system.slice/system-getty.slice/getty@tty1.service/cgroup.procs', '77\n');
    const rows = readServices(root.files());
    const shown = rows.map((row) =>
      [
        row['service_id'],
        row['service_state'],
        row['service_sub_state'],
        row['service_enabled'],
        row['process_pid'],
      ].join(' '),
    );
    expect(shown).to.have.members([
      'ssh.service active running enabled 812',
      'once.service active exited static 0',
      'off.service inactive dead disabled 0',
      'getty@tty1.service active running enabled 77',
      'mine.service inactive dead static 0',
      'gone.service inactive dead masked 0',
      'sshd.service inactive dead alias 0',
    ]);
    const mine = rows.find(({ service_id: id }) => id === 'mine.service');
    expect(mine).to.include({
      service_description: 'own',
      file_path: '/etc/systemd/system/mine.service',
      service_name: 'mine',
    });
    const columns = inventoryTable('services')?.columns.map(({ name }) => name);
    expect(Object.keys(mine ?? {})).to.have.members(columns ?? []);
    expect(rows.find(({ service_id: id }) => id === 'getty@tty1.service')?.['service_object_path']).to.equal(
      '/org/freedesktop/systemd1/unit/getty_40tty1_2eservice',
    );
  });

  it('survive any text', () => {
    const line = fc.oneof(
      fc.constantFrom('[Service]', 'ExecStart=', 'ExecStart=/a b', '\\', 'x\\', '=', '[', '[]'),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(fc.property(fc.array(line), (lines) => void parseUnitFile(lines.join('\n'))));
  });
});
