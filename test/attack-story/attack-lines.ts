/** A line that an agent of the story sends, from the log it is in. */
export type AttackLine = { readonly host: AttackHost; readonly location: string; readonly line: string };

/** The hosts of the story, as their agents are called. */
export const ATTACK_HOSTS = ['demo-web1', 'demo-web2', 'demo-db1'] as const;
export type AttackHost = (typeof ATTACK_HOSTS)[number];

/** Of the ranges for documentation (RFC 5737): nobody's. */
const ATTACKER = '203.0.113.9';
const NEIGHBOUR = '198.51.100.23';
const WEB1 = '192.0.2.11';

const AUTH = '/var/log/auth.log';
const ACCESS = '/var/log/nginx/access.log';
const KERNEL = '/var/log/kern.log';
const PACKAGES = '/var/log/dpkg.log';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (value: number): string => String(value).padStart(2, '0');

/** What comes of one step of the story. */
export type AttackStep = { readonly title: string; readonly lines: readonly AttackLine[] };

/**
 * An attack on three hosts, step by step: somebody looks for holes in two web servers, guesses a password of one, becomes root
 * there, and goes on to the database with a user of his own.
 * @param now when each line is written
 */
export function attackSteps(now: () => Date): readonly AttackStep[] {
  const clock = (): string => {
    const date = now();
    const day = String(date.getDate()).padStart(2, ' ');
    return `${MONTHS[date.getMonth()] ?? ''} ${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  };
  const log = (host: AttackHost, location: string, text: string): AttackLine => ({
    host,
    location,
    line: `${clock()} ${host.replace('demo-', '')} ${text}`,
  });
  const request = (host: AttackHost, address: string, path: string, status: number): AttackLine => {
    const date = now();
    const stamp = `${two(date.getUTCDate())}/${MONTHS[date.getUTCMonth()] ?? ''}/${String(date.getUTCFullYear())}:${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} +0000`;
    return {
      host,
      location: ACCESS,
      line: `${address} - - [${stamp}] "GET ${path} HTTP/1.1" ${String(status)} 512 "-" "Mozilla/5.0"`,
    };
  };
  const guess = (user: string, port: number): AttackLine =>
    log('demo-web1', AUTH, `sshd[2210]: Failed password for ${user} from ${ATTACKER} port ${String(port)} ssh2`);
  const steps: readonly (readonly [title: string, lines: () => readonly AttackLine[]])[] = [
    [
      'an ordinary day: logins, a package, a full cache',
      () => [
        log('demo-db1', AUTH, 'CRON[411]: pam_unix(cron:session): session opened for user backup by (uid=0)'),
        log('demo-web2', AUTH, `sshd[790]: Accepted publickey for deploy from ${NEIGHBOUR} port 50110 ssh2`),
        log('demo-web2', PACKAGES, 'dpkg: 2026-11-28 09:00:01 status installed nginx:amd64 1.22.1-9'),
        request('demo-web2', NEIGHBOUR, '/cart?id=4', 200),
        request('demo-web1', NEIGHBOUR, '/missing.html', 404),
      ],
    ],
    [
      `${ATTACKER} looks for holes in both web servers`,
      () =>
        (['demo-web1', 'demo-web2'] as const).flatMap((host) => [
          request(host, ATTACKER, '/.env', 404),
          request(host, ATTACKER, '/wp-login.php', 404),
          request(host, ATTACKER, '/cgi-bin/../../../../etc/passwd', 404),
          request(host, ATTACKER, '/item?id=1%20union%20select%20password%20from%20users--', 403),
          request(host, ATTACKER, '/search?q=%3Cscript%3Ealert(1)%3C/script%3E', 403),
        ]),
    ],
    [
      `${ATTACKER} tries user names that do not exist on demo-web1`,
      () =>
        ['oracle', 'test', 'guest', 'postgres', 'jenkins', 'git', 'ubuntu', 'ftp', 'nagios', 'tomcat'].map(
          (user, index) => guess(`invalid user ${user}`, 40_100 + index),
        ),
    ],
    [
      `${ATTACKER} tries one password after the other for deploy`,
      () => Array.from({ length: 12 }, (_none, index) => guess('deploy', 40_200 + index)),
    ],
    [
      'and is in',
      () => [
        log('demo-web1', AUTH, `sshd[2214]: Accepted password for deploy from ${ATTACKER} port 40240 ssh2`),
        log(
          'demo-web1',
          AUTH,
          'sshd[2214]: pam_unix(sshd:session): session opened for user deploy(uid=1001) by (uid=0)',
        ),
      ],
    ],
    [
      'deploy becomes root, adds a user of his own, and loads a module of the kernel',
      () => [
        log(
          'demo-web1',
          AUTH,
          'sudo:   deploy : TTY=pts/1 ; PWD=/home/deploy ; USER=root ; COMMAND=/usr/bin/cat /etc/shadow',
        ),
        log(
          'demo-web1',
          AUTH,
          'sudo:   deploy : TTY=pts/1 ; PWD=/home/deploy ; USER=root ; COMMAND=/usr/sbin/useradd -m sysadm',
        ),
        log(
          'demo-web1',
          AUTH,
          'useradd[2301]: new user: name=sysadm, UID=1007, GID=1007, home=/home/sysadm, shell=/bin/bash',
        ),
        log('demo-web1', AUTH, "usermod[2305]: add 'sysadm' to group 'sudo'"),
        log(
          'demo-web1',
          KERNEL,
          'kernel: [ 4242.1] rootmod: module verification failed: signature and/or required key missing - tainting kernel',
        ),
        log('demo-web1', AUTH, 'crontab[2310]: (root) REPLACE (root)'),
      ],
    ],
    [
      `from demo-web1 (${WEB1}) the attacker goes on to demo-db1`,
      () => [
        ...Array.from({ length: 3 }, (_none, index) =>
          log('demo-db1', AUTH, `sshd[311]: Failed password for root from ${WEB1} port ${String(51_100 + index)} ssh2`),
        ),
        log('demo-db1', AUTH, `sshd[318]: Accepted password for backup from ${WEB1} port 51120 ssh2`),
        log(
          'demo-db1',
          AUTH,
          'sudo:   backup : TTY=pts/0 ; PWD=/var/backups ; USER=root ; COMMAND=/usr/bin/pg_dumpall',
        ),
      ],
    ],
  ];
  return steps.map(([title, lines]) => ({
    title,
    get lines() {
      return lines();
    },
  }));
}
