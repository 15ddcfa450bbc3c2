import { existsSync } from 'node:fs';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import { readRunRecord } from '../../../lib/daemon/run-record.js';
import type { Home } from '../../../lib/home/home.js';
import { productVersion } from '../../../lib/product/version.js';

/**
 * What a new user reads when everything runs: where the API is, who may log in, and commands that work as they stand.
 * @param control path of svc-control for this installation
 */
export function welcome(home: Home, control: string): string {
  const url = apiUrl(home);
  const password = home.path('api', 'configuration', 'security', 'initial-admin-password');
  const certificate = home.path('api', 'configuration', 'ssl', 'server.crt');
  const quote = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`);
  const lines = ['', `Security Manager v${productVersion()} is running. Home: ${home.root}`];
  if (url !== undefined) {
    lines.push(
      '',
      `  Console   ${url}/console  (in a browser, which does not know the certificate yet)`,
      `  API       ${url}  (documentation: ${url}/docs)`,
      '  User      admin',
      existsSync(password)
        ? `  Password  in ${password}`
        : '  Password  the one you have set (the file with the first one is gone)',
      '',
      'Three things to try in another terminal:',
      '',
      `  TOKEN=$(curl -s --cacert ${quote(certificate)} -u "admin:$(cat ${quote(password)})" -X POST '${url}/security/user/authenticate?raw=true')`,
      '',
      '  1. Which daemons run:',
      `     curl -s --cacert ${quote(certificate)} -H "Authorization: Bearer $TOKEN" '${url}/manager/status?pretty=true'`,
      '  2. What a failed login would raise:',
      `     curl -s --cacert ${quote(certificate)} -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -X PUT '${url}/logtest?pretty=true' -d '${LOGTEST}'`,
      '  3. Send an event of your own and see its alert:',
      `     curl -s --cacert ${quote(certificate)} -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -X POST '${url}/events' -d '${EVENT}' && echo && sleep 1 && tail -n 1 ${quote(home.path('logs', 'alerts', 'alerts.json'))}`,
    );
  }
  lines.push(
    '',
    `State: ${quote(control)} status --home ${quote(home.root)}    Log: ${home.path('logs', 'manager.log')}    Stop: Ctrl+C`,
    '',
  );
  return lines.join('\n');
}

const LINE = 'Dec 10 01:02:02 host sshd[1234]: Failed password for invalid user admin from 192.0.2.7 port 41234 ssh2';
const LOGTEST = JSON.stringify({ log_format: 'syslog', location: 'try', event: LINE });
const EVENT = JSON.stringify({ events: [LINE] });

function apiUrl(home: Home): string | undefined {
  const record = readRunRecord(new RunFiles(home, 'svc-apid').record());
  for (const { protocol, port } of Object.values(record?.addresses ?? {})) {
    if (port === undefined) continue;
    // The certificate names localhost; what the API is bound to may be any address of the host.
    return `${protocol === 'https' ? 'https' : 'http'}://localhost:${port}`;
  }
  return undefined;
}
