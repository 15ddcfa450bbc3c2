import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { authdContract } from '../../../lib/bus/contracts/authd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { readRunRecord } from '../../../lib/daemon/run-record.js';
import type { Home } from '../../../lib/home/home.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { makeEnrollmentCertificate } from '../../../lib/tls/self-signed-certificate.js';
import { eventually } from '../eventually.js';
import { TemporaryHome } from '../temporary-home.js';

const shipped = (name: string) => fileURLToPath(new URL(name, productRoot()));

let certificate: Promise<{ key: string; certificate: string }> | undefined;

/** A home with all that svc-authd needs. */
export async function authdHome(auth = '', sections = ''): Promise<TemporaryHome> {
  const home = new TemporaryHome();
  await furnishAuthd(home);
  configureAuth(home, auth, sections);
  return home;
}

/** Puts what svc-authd needs beside its configuration into a home; the certificate is made once a process. */
export async function furnishAuthd(home: TemporaryHome): Promise<void> {
  certificate ??= makeEnrollmentCertificate(new Date());
  const { key, certificate: pem } = await certificate;
  for (const directory of ['etc/shared/default', 'etc/shared/web', 'queue/sockets', 'queue/rids', 'queue/diff']) {
    mkdirSync(home.path(directory), { recursive: true });
  }
  copyFileSync(shipped('etc/internal_options.conf'), home.path('etc/internal_options.conf'));
  writeFileSync(home.path('etc/sslmanager.key'), key, { mode: 0o640 });
  writeFileSync(home.path('etc/sslmanager.cert'), pem, { mode: 0o640 });
  writeFileSync(home.path('etc/client.keys'), '', { mode: 0o640 });
}

/** @param auth elements of the section beside the port, which the system chooses @param sections other sections */
export function configureAuth(home: TemporaryHome, auth: string, sections = ''): void {
  const text = `<manager_config><auth><port>0</port>${auth}</auth>${sections}</manager_config>`;
  writeFileSync(home.path('etc/manager.conf'), text);
}

/** Lets one address enrol as many agents as it likes, as all of a test's agents come from this host. */
export function liftEnrollmentLimits(home: TemporaryHome): void {
  writeFileSync(
    home.path('etc/local_internal_options.conf'),
    'authd.enrollments_per_minute=0\nauthd.enrollments_per_day=0\n',
  );
}

/** A running svc-authd: the process of `bin/svc-authd`. */
export class AuthdServer {
  readonly client: RequestClient<typeof authdContract>;

  private constructor(
    readonly home: Home,
    readonly child: ChildProcess,
    readonly port: number,
  ) {
    this.client = new RequestClient({ contract: authdContract, path: home.socket('svc-authd') });
  }

  static async start(home: Home, flags: readonly string[] = []): Promise<AuthdServer> {
    const args = [shipped('bin/svc-authd'), '--home', home.root, ...flags];
    const child = spawn(process.execPath, args, { stdio: 'ignore' });
    try {
      const record = await eventually('svc-authd listens', () => {
        if (child.exitCode !== null) throw new Error(`svc-authd ended with ${child.exitCode}`);
        const found = readRunRecord(home.path('var', 'run', 'svc-authd.json'));
        return found?.pid === child.pid ? found : undefined;
      });
      return new AuthdServer(home, child, record.addresses['enrollment']?.port ?? 0);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  /** Ends the process and waits for it. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.client.close();
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill(signal);
    await once(this.child, 'exit');
  }
}
