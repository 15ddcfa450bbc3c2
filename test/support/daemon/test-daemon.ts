import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import type { DaemonSpec } from '../../../lib/daemon/daemon-spec.js';
import { runDaemon } from '../../../lib/daemon/run-daemon.js';
import type { Home } from '../../../lib/home/home.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';

/** What `etc/<daemon>.test.json` of a test home may ask of the daemon below. */
export type TestDaemonConfig = {
  /** Listens here when given. */
  port?: number;
  checkError?: string;
  buildError?: string;
  /** Time of the build and of the stop. */
  buildMs?: number;
  stopMs?: number;
  reloadError?: string;
  restartNeeded?: string[];
  problem?: string;
  /** Throws outside any handler this long after the start. */
  crashAfterMs?: number;
};

function load(name: string, home: Home): TestDaemonConfig {
  const path = home.path('etc', `${name}.test.json`);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as TestDaemonConfig) : {};
}

const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A daemon for tests of the lifecycle and the supervisor: `test-daemon.js NAME [flags]`. */
const name = process.argv[2] as DaemonName;
const spec: DaemonSpec = {
  name,
  check({ home }) {
    const { checkError } = load(name, home);
    if (checkError !== undefined) throw new Error(checkError);
  },
  async build({ home, logger, setProblem }) {
    const config = load(name, home);
    if (config.buildMs !== undefined) await delay(config.buildMs);
    if (config.buildError !== undefined) throw new Error(config.buildError);
    setProblem(config.problem);
    const server = createServer();
    let port: number | undefined;
    if (config.port !== undefined) {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(config.port, '127.0.0.1', resolve);
      });
      port = (server.address() as AddressInfo).port;
    }
    if (config.crashAfterMs !== undefined) {
      setTimeout(() => {
        throw new Error('test crash');
      }, config.crashAfterMs);
    }
    logger.debug('built');
    return {
      addresses: port === undefined ? {} : { main: { protocol: 'tcp', address: '127.0.0.1', port } },
      reload() {
        const { reloadError, restartNeeded } = load(name, home);
        return reloadError === undefined
          ? Promise.resolve(restartNeeded ?? [])
          : Promise.reject(new Error(reloadError));
      },
      async stop() {
        const { stopMs } = load(name, home);
        if (stopMs !== undefined) await delay(stopMs);
        server.close();
        writeFileSync(home.path('var', `${name}.drained`), '');
      },
    };
  },
};

await runDaemon(spec, process.argv.slice(3));
