import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { commandWords } from '../../lib/config/command-words.js';
import { Home } from '../../lib/home/home.js';
import { productRoot } from '../../lib/product/product-root.js';
import { type CommandRunner, Evaluator } from '../../lib/sca/evaluate.js';
import { loadPolicies } from '../../lib/sca/load-policies.js';
import { look } from '../../lib/sca/look.js';
import type { RuleSet } from '../../lib/sca/policy.js';
import { removeTree } from '../support/remove-tree.js';

/** A host of a test: files below its root, what programs print, paths of programs that run. */
type World = {
  readonly files?: Readonly<Record<string, string>>;
  readonly modes?: Readonly<Record<string, number>>;
  /** By the name of the program. */
  readonly prints?: Readonly<Record<string, string>>;
  readonly runs?: readonly string[];
};
type Case = readonly [passes: World, fails: World];

const file = (path: string, content: string): World => ({ files: { [path]: content } });
const stat = (output: string): World => ({ prints: { stat: output } });
const packages = (output: string): World => ({ prints: { 'dpkg-query': output } });
const NOTHING: World = {};

const DEBIAN: Record<number, Case> = {
  1800121: mounts('tmpfs /tmp tmpfs rw 0 0', '/dev/vda1 / ext4 rw 0 0'),
  1800122: mounts('tmpfs /tmp tmpfs rw,nodev 0 0', 'tmpfs /tmp tmpfs rw,nosuid 0 0'),
  1800123: mounts('tmpfs /tmp tmpfs nosuid 0 0', 'tmpfs /home tmpfs nosuid 0 0'),
  1800124: mounts('tmpfs /tmp tmpfs rw,noexec,relatime 0 0', 'tmpfs /tmp tmpfs rw,noexecute 0 0'),
  1800125: mounts('tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0', 'tmpfs /dev/shm tmpfs rw 0 0'),
  1800126: mounts('tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0', 'tmpfs /dev/shm tmpfs rw 0 0'),
  1800127: mounts('tmpfs /dev/shm tmpfs rw,nosuid,noexec 0 0', 'tmpfs /dev/shm tmpfs rw,nosuid 0 0'),
  1800131: [
    { ...file('/boot/grub/grub.cfg', ''), ...stat('600:root:root') },
    { ...file('/boot/grub/grub.cfg', ''), ...stat('644:root:root') },
  ],
  1800132: [
    file('/boot/grub/grub.cfg', 'set superusers="root"\npassword_pbkdf2 root grub.pbkdf2.sha512.10000.AB.CD\n'),
    file('/boot/grub/grub.cfg', '# password_pbkdf2 root grub.pbkdf2.sha512\n'),
  ],
  1800201: sysctl('kernel/randomize_va_space', '2', '1'),
  1800202: sysctl('fs/suid_dumpable', '0', '2'),
  1800203: sysctl('kernel/yama/ptrace_scope', '2', '0'),
  1800204: sysctl('kernel/dmesg_restrict', '1', '0'),
  1800205: sysctl('kernel/kptr_restrict', '1', '0'),
  1800206: sysctl('fs/protected_symlinks', '1', '0'),
  1800207: sysctl('fs/protected_hardlinks', '1', '0'),
  1800208: sysctl('kernel/unprivileged_bpf_disabled', '2', '0'),
  1800221: sysctl('net/ipv4/ip_forward', '0', '1'),
  1800222: sysctl('net/ipv6/conf/all/forwarding', '0', '1'),
  1800223: interfaces('ipv4', 'send_redirects', '0', '1'),
  1800224: interfaces('ipv4', 'accept_source_route', '0', '1'),
  1800225: interfaces('ipv6', 'accept_source_route', '-1', '1'),
  1800226: interfaces('ipv4', 'accept_redirects', '0', '1'),
  1800227: interfaces('ipv6', 'accept_redirects', '0', '1'),
  1800228: interfaces('ipv4', 'secure_redirects', '0', '1'),
  1800229: interfaces('ipv4', 'log_martians', '1', '0'),
  1800230: sysctl('net/ipv4/icmp_echo_ignore_broadcasts', '1', '0'),
  1800231: sysctl('net/ipv4/icmp_ignore_bogus_error_responses', '1', '0'),
  1800232: sysctl('net/ipv4/conf/all/rp_filter', '1', '2'),
  1800233: sysctl('net/ipv4/tcp_syncookies', '1', '0'),
  1800234: interfaces('ipv6', 'accept_ra', '0', '1'),
  1800331: [{ runs: ['/usr/lib/systemd/systemd-timesyncd'] }, { runs: ['/usr/bin/my-chronyd'] }],
  1800332: [
    { ...file('/etc/crontab', ''), ...stat('600:root:root') },
    { ...file('/etc/crontab', ''), ...stat('644:root:root') },
  ],
  1800333: [
    stat("700:root:root\n700:root:root\nstat: cannot statx '/etc/cron.hourly': No such file or directory"),
    stat('700:root:root\n755:root:root'),
  ],
  1800334: [{ files: { '/usr/sbin/cron': '', '/etc/cron.allow': 'root\n' } }, file('/usr/sbin/cron', '')],
  1800341: [{ runs: ['/usr/sbin/auditd'] }, { runs: ['/usr/sbin/auditdx'] }],
  1800342: [
    file('/proc/cmdline', 'root=/dev/vda1 audit=1 quiet\n'),
    file('/proc/cmdline', 'root=/dev/vda1 audit=10\n'),
  ],
  1800343: [{ runs: ['/usr/sbin/rsyslogd'] }, { runs: ['/usr/sbin/cron'] }],
  1800344: [
    { ...file('/var/log/auth.log', ''), ...stat('640') },
    { ...file('/var/log/auth.log', ''), ...stat('644') },
  ],
  1800401: passwd('bob:x:1000:0:::/bin/sh', 'toor:x:0:0:::/bin/sh'),
  1800402: [
    file('/etc/passwd', 'root:x:0:0:root:/root:/bin/bash\n'),
    file('/etc/passwd', 'root:x:0:100::/root:/bin/sh\n'),
  ],
  1800403: passwd('bob:*:1000:1000:::/bin/sh', 'bob:$1$abc$def:1000:1000:::/bin/sh'),
  1800404: [file('/etc/shadow', 'root:*:1::::::\nbob:$y$j9T$a$b:1::::::\n'), file('/etc/shadow', 'bob::1::::::\n')],
  1800405: [
    file('/etc/shadow', 'root:!*:1:\nbob:$y$j9T$a$b:1:\neve:$6$x$y:1:\n'),
    file('/etc/shadow', 'bob:ab1234567890.:1:\n'),
  ],
  1800406: [
    {
      files: {
        '/etc/login.defs': 'ENCRYPT_METHOD SHA512\n',
        '/etc/pam.d/common-password': 'password\t[success=1 default=ignore]\tpam_unix.so obscure yescrypt\n',
      },
    },
    { files: { '/etc/login.defs': '# ENCRYPT_METHOD SHA512\nENCRYPT_METHOD DES\n', '/etc/pam.d/common-password': '' } },
  ],
  1800407: loginDefs('PASS_MAX_DAYS\t365', 'PASS_MAX_DAYS\t99999'),
  1800408: loginDefs('PASS_MIN_DAYS 1', 'PASS_MIN_DAYS 0'),
  1800409: loginDefs('PASS_WARN_AGE 14', 'PASS_WARN_AGE 3'),
  1800410: [
    file('/etc/default/useradd', 'INACTIVE=30\n'),
    file('/etc/default/useradd', '# INACTIVE=30\nINACTIVE=-1\n'),
  ],
  1800411: loginDefs('UMASK 027', 'UMASK 022'),
  1800412: passwd(
    'daemon:x:1:1::/:/usr/sbin/nologin\ntss:x:101:1::/:/bin/false\nbob:x:1000:1::/:/bin/sh\nnobody:x:65534:1::/:/bin/sh',
    'www:x:33:33::/var/www:',
  ),
  1800413: [file('/etc/group', 'shadow:x:42:\n'), file('/etc/group', 'shadow:x:42:bob\n')],
  1800414: pam(
    'common-password',
    'password requisite pam_pwquality.so retry=3',
    '# password requisite pam_pwquality.so',
  ),
  1800415: [
    {
      files: {
        '/etc/security/pwquality.conf': '# minlen = 8\n',
        '/etc/security/pwquality.conf.d/a.conf': 'minlen = 14\n',
      },
    },
    file('/etc/security/pwquality.conf', '# minlen = 14\nminlen = 8\n'),
  ],
  1800416: pam(
    'common-password',
    'password required pam_pwhistory.so remember=24',
    'password required pam_pwhistory.so remember=2',
  ),
  1800417: pam('common-auth', 'auth required pam_faillock.so preauth', 'auth required pam_unix.so'),
  1800418: pam('su', 'auth       required   pam_wheel.so', '# auth       required   pam_wheel.so'),
  1800419: [
    { files: { '/etc/profile': '', '/etc/profile.d/a.sh': 'declare -xr TMOUT=900\n' } },
    { files: { '/etc/profile': '# TMOUT=900\n', '/etc/profile.d/a.sh': 'TMOUT=0\n' } },
  ],
  1800501: sudoers('Defaults env_reset, use_pty', 'Defaults !use_pty'),
  1800502: sudoers('Defaults logfile="/var/log/sudo.log"', '# Defaults logfile="/var/log/sudo.log"'),
  1800503: sudoers('# bob ALL=(ALL) NOPASSWD: ALL', 'bob ALL=(ALL) NOPASSWD: ALL'),
  1800504: sudoers('Defaults env_reset', 'Defaults:bob !authenticate'),
  1800511: [stat('644:root:root'), stat('664:root:root')],
  1800512: [stat('444:root:root'), stat('644:bob:root')],
  1800513: [stat('640:root:shadow\n0:root:root'), stat('640:root:shadow\n644:root:shadow')],
  1800514: [stat('600:root:root'), stat('644:root:bob')],
  1800515: [
    { ...file('/etc/security/opasswd', ''), ...stat('600:root:root') },
    { ...file('/etc/security/opasswd', ''), ...stat('644:root:root') },
  ],
  1800516: [stat('700:root'), stat('755:root')],
  1800517: [stat('1777\n1777'), stat('1777\n777')],
  1800518: [NOTHING, file('/root/.rhosts', '')],
  1800601: [
    { ...file('/etc/ufw/ufw.conf', 'ENABLED=yes\n'), prints: { systemctl: 'disabled' } },
    { ...file('/etc/ufw/ufw.conf', 'ENABLED=no\n'), prints: { systemctl: 'disabled\nmasked' } },
  ],
  1800602: [
    file('/sys/module/apparmor/parameters/enabled', 'Y\n'),
    file('/sys/module/apparmor/parameters/enabled', 'N\n'),
  ],
  1800603: [apt('APT::Periodic::Unattended-Upgrade "1";'), apt('APT::Periodic::Unattended-Upgrade "0";')],
  1800604: [apt('// APT::Get::AllowUnauthenticated "true";'), apt('APT::Get::AllowUnauthenticated "true";')],
  1800605: [
    file('/etc/apt/sources.list', '# deb [trusted=yes] http://x y z\ndeb http://x y z\n'),
    file('/etc/apt/sources.list.d/x.sources', 'Types: deb\nTrusted: yes\n'),
  ],
  1800611: [
    file('/etc/security/limits.d/a.conf', '* hard core 0\n'),
    file('/etc/security/limits.conf', '#* hard core 0\n'),
  ],
  1800612: [file('/etc/issue', 'For members only.\n'), file('/etc/issue', 'Debian GNU/Linux 12 \\n \\l\n')],
  1800613: [NOTHING, file('/etc/issue.net', 'Ubuntu 22.04\n')],
};
for (let id = 1_800_301; id <= 1_800_312; id += 1) {
  DEBIAN[id] = [
    packages('dpkg-query: no packages found matching x\nconfig-files\nnot-installed'),
    packages('not-installed\ninstalled'),
  ];
}
const MODULES = ['cramfs', 'freevxfs', 'hfs', 'hfsplus', 'jffs2', 'usb-storage', 'dccp', 'sctp', 'rds', 'tipc'];
for (const [index, name] of MODULES.entries()) {
  const module = `/lib/modules/6.1.0-1-amd64/kernel/a/b/${name}.ko.xz`;
  DEBIAN[1_800_101 + index] = [
    { files: { [module]: '', '/etc/modprobe.d/x.conf': `install ${name} /bin/false\n` } },
    { files: { [module]: '', '/etc/modprobe.d/x.conf': `# install ${name} /bin/false\nblacklist ${name}\n` } },
  ];
}

/** What sshd says that it is set to, where each check passes; and the line with which it fails. */
const SSHD_GOOD = `port 22
permitrootlogin without-password
permitemptypasswords no
passwordauthentication no
kbdinteractiveauthentication no
hostbasedauthentication no
ignorerhosts yes
allowgroups ssh
maxauthtries 4
logingracetime 60
maxstartups 10:30:60
usepam yes
strictmodes yes
maxsessions 10
clientaliveinterval 15
clientalivecountmax 3
x11forwarding no
allowtcpforwarding no
allowagentforwarding no
gatewayports no
permittunnel no
permituserenvironment no
loglevel VERBOSE
banner /etc/issue.net
ciphers chacha20-poly1305@openssh.com,aes256-gcm@openssh.com,aes256-ctr
macs hmac-sha2-512-etm@openssh.com,umac-128-etm@openssh.com,hmac-sha2-256
kexalgorithms sntrup761x25519-sha512@openssh.com,curve25519-sha256,diffie-hellman-group14-sha256`;
const SSHD_BAD: Record<number, string> = {
  1801001: 'permitrootlogin yes',
  1801002: 'permitemptypasswords yes',
  1801003: 'kbdinteractiveauthentication yes',
  1801004: 'hostbasedauthentication yes',
  1801005: 'ignorerhosts no',
  1801006: 'allowgroups',
  1801007: 'maxauthtries 6',
  1801008: 'logingracetime 0',
  1801009: 'maxstartups 100:30:200',
  1801010: 'usepam no',
  1801011: 'strictmodes no',
  1801012: 'maxsessions 11',
  1801013: 'clientaliveinterval 0',
  1801014: 'x11forwarding yes',
  1801015: 'allowtcpforwarding local',
  1801016: 'allowagentforwarding yes',
  1801017: 'gatewayports clientspecified',
  1801018: 'permittunnel point-to-point',
  1801019: 'permituserenvironment yes',
  1801020: 'loglevel QUIET',
  1801021: 'banner none',
  1801022: 'ciphers aes256-ctr,aes256-cbc',
  1801023: 'macs hmac-sha2-256,hmac-sha1-etm@openssh.com',
  1801024: 'kexalgorithms curve25519-sha256,diffie-hellman-group14-sha1',
};
const keys = (name: string, mode: number): World => ({
  files: { [`/etc/ssh/${name}`]: '', '/etc/ssh/other': '' },
  modes: { [`/etc/ssh/${name}`]: mode, '/etc/ssh/other': 0o666 },
});
const SSHD: Record<number, Case> = {
  1801025: [stat('600:root:root'), stat('644:root:root')],
  1801026: [keys('ssh_host_rsa_key', 0o600), keys('ssh_host_rsa_key', 0o640)],
  1801027: [keys('ssh_host_rsa_key.pub', 0o644), keys('ssh_host_rsa_key.pub', 0o664)],
};
for (const [id, line] of Object.entries(SSHD_BAD)) {
  const name = line.split(' ')[0] ?? '';
  const bad = SSHD_GOOD.replace(new RegExp(`^${name} .*$`, 'm'), line);
  SSHD[Number(id)] = [{ prints: { '/usr/sbin/sshd': SSHD_GOOD } }, { prints: { '/usr/sbin/sshd': bad } }];
}

function mounts(good: string, bad: string): Case {
  return [file('/proc/1/mounts', `${good}\n`), file('/proc/1/mounts', `${bad}\n`)];
}
function sysctl(path: string, good: string, bad: string): Case {
  return [file(`/proc/sys/${path}`, `${good}\n`), file(`/proc/sys/${path}`, `${bad}\n`)];
}
function interfaces(version: string, name: string, good: string, bad: string): Case {
  const world = (all: string, other: string): World => ({
    files: {
      [`/proc/sys/net/${version}/conf/all/${name}`]: `${all}\n`,
      [`/proc/sys/net/${version}/conf/default/${name}`]: `${other}\n`,
    },
  });
  return [world(good, good), world(good, bad)];
}
function passwd(good: string, bad: string): Case {
  const root = 'root:x:0:0:root:/root:/bin/bash\n';
  return [file('/etc/passwd', `${root}${good}\n`), file('/etc/passwd', `${root}${bad}\n`)];
}
function loginDefs(good: string, bad: string): Case {
  return [file('/etc/login.defs', `${good}\n`), file('/etc/login.defs', `# ${good}\n${bad}\n`)];
}
function pam(name: string, good: string, bad: string): Case {
  return [file(`/etc/pam.d/${name}`, `${good}\n`), file(`/etc/pam.d/${name}`, `${bad}\n`)];
}
function sudoers(good: string, bad: string): Case {
  const world = (line: string): World => ({
    files: { '/etc/sudoers': 'root ALL=(ALL:ALL) ALL\n', '/etc/sudoers.d/a': `${line}\n` },
  });
  return [world(good), world(bad)];
}
function apt(line: string): World {
  return file('/etc/apt/apt.conf.d/20auto', `${line}\n`);
}

describe('the shipped policies', function () {
  this.timeout(60_000);
  const directory = fileURLToPath(new URL('etc/ruleset/sca/', productRoot()));
  const places = readdirSync(directory).map((name) => ({ path: `ruleset/sca/${name}`, real: join(directory, name) }));
  const { policies, warnings } = loadPolicies(places, { home: new Home('/nowhere'), remoteCommands: false });
  const cases: Record<string, Record<number, Case>> = { svc_debian: DEBIAN, svc_sshd: SSHD };
  let base: string;

  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'svc-policy-'));
  });
  afterEach(() => {
    removeTree(base);
  });

  /** Programs that read files do so below the root of the world; what others print is given. */
  const commands = ({ prints = {} }: World): CommandRunner => ({
    run(line) {
      const [program, ...args] = commandWords(line);
      if (program in prints) return Promise.resolve((prints[program] ?? '').split('\n'));
      if (!['grep', 'cat', 'find'].includes(program)) return Promise.resolve({ reason: `no ${program}` });
      const below = args.map((arg) => (/^\/(etc|run|usr|sys)\//.test(arg) ? `${base}${arg}` : arg));
      try {
        const output = execFileSync(program, below, { encoding: 'latin1', stdio: ['ignore', 'pipe', 'ignore'] });
        return Promise.resolve(output.split('\n').filter((each) => each !== ''));
      } catch (error) {
        return Promise.resolve(
          String((error as { stdout?: string }).stdout ?? '')
            .split('\n')
            .filter((each) => each !== ''),
        );
      }
    },
  });

  async function evaluate(set: RuleSet, world: World) {
    for (const [path, content] of Object.entries(world.files ?? {})) {
      mkdirSync(dirname(join(base, path)), { recursive: true });
      writeFileSync(join(base, path), content);
    }
    for (const [path, mode] of Object.entries(world.modes ?? {})) chmodSync(join(base, path), mode);
    const evaluator = new Evaluator({
      looker: { look: (order) => Promise.resolve(look(order)) },
      commands: commands(world),
      ...{ skipNfs: true, base, processes: world.runs ?? ['/usr/bin/node'] },
    });
    const { result, reason } = await evaluator.evaluate(set, undefined, new AbortController().signal);
    return reason === undefined ? result : `${result}: ${reason}`;
  }

  it('are right, and have ids of their own', () => {
    expect(warnings).to.deep.equal([]);
    expect(policies.map(({ policy }) => policy.id)).to.have.members(Object.keys(cases));
    for (const { policy, path } of policies) {
      const text = readFileSync(join(directory, path.split('/').at(-1) ?? ''), 'utf8');
      expect(policy.file).to.equal(path.split('/').at(-1));
      expect(text).to.not.match(/\t/);
      for (const { id, rationale, remediation, compliance } of policy.checks) {
        expect(id, `${policy.id} ${id}`).to.be.within(1_800_000, 1_801_999);
        expect([rationale, remediation]).to.not.include(undefined);
        expect(compliance.map(([key]) => key)).to.deep.equal(['pci_dss', 'nist_800_53', 'cis_csc_v8']);
      }
    }
  });

  for (const { policy } of policies) {
    for (const check of policy.checks) {
      it(`${policy.id}: ${String(check.id)} passes and fails. ${check.title}`, async () => {
        const [passes, fails] = cases[policy.id]?.[check.id] ?? [];
        if (passes === undefined || fails === undefined) throw new Error('it has no hosts to be tried on');
        expect(await evaluate(check, passes)).to.equal('passed');
        removeTree(base);
        expect(await evaluate(check, fails)).to.equal('failed');
      });
    }
  }

  it('judge the sshd of Debian 12, as it is installed, by what it says', async () => {
    const recorded = readFileSync(new URL('test/vectors/sshd-settings-debian12.txt', productRoot()), 'utf8');
    const checks = policies.find(({ policy }) => policy.id === 'svc_sshd')?.policy.checks ?? [];
    const failed: number[] = [];
    for (const check of checks.filter(({ id }) => id in SSHD_BAD)) {
      const result = await evaluate(check, { prints: { '/usr/sbin/sshd': recorded } });
      expect(result).to.be.oneOf(['passed', 'failed']);
      if (result === 'failed') failed.push(check.id);
    }
    const expected = [3, 6, 7, 8, 13, 14, 15, 16, 21, 23];
    expect(failed).to.deep.equal(expected.map((number) => 1_801_000 + number));
  });

  it('are for the systems that they name alone', async () => {
    const [debian, sshd] = ['svc_debian', 'svc_sshd'].map(
      (id) => policies.find(({ policy }) => policy.id === id)?.policy.requirements,
    );
    if (debian === undefined || sshd === undefined) throw new Error('there are no requirements');
    const release = (name: string) => evaluate(debian, file('/etc/os-release', `NAME="x"\nPRETTY_NAME="${name}"\n`));
    for (const name of [
      'Debian GNU/Linux 12 (bookworm)',
      'Debian GNU/Linux 13 (trixie)',
      'Debian GNU/Linux forky/sid',
      'Ubuntu 22.04.5 LTS',
      'Ubuntu 24.04 LTS',
    ]) {
      expect(await release(name), name).to.equal('passed');
    }
    for (const name of ['Debian GNU/Linux 11 (bullseye)', 'Ubuntu 20.04 LTS', 'Rocky Linux 9.4']) {
      expect(await release(name), name).to.equal('failed');
    }
    removeTree(base);
    expect(await evaluate(sshd, { prints: { '/usr/sbin/sshd': SSHD_GOOD } })).to.equal('failed');
    const installed = file('/usr/sbin/sshd', '');
    expect(
      await evaluate(sshd, { ...installed, prints: { '/usr/sbin/sshd': 'sshd: no hostkeys available -- exiting.' } }),
    ).to.equal('failed');
    expect(await evaluate(sshd, { ...installed, prints: { '/usr/sbin/sshd': SSHD_GOOD } })).to.equal('passed');
  });
});
