import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { defineContract } from '../../../lib/bus/contract.js';
import { commonMethods } from '../../../lib/bus/contracts/common.js';
import type { DaemonSettings } from '../../../lib/daemon/daemon-settings.js';
import { defineDaemon } from '../../../lib/daemon/define-daemon.js';
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

const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A daemon for tests of the lifecycle and the supervisor: `test-daemon.js NAME [flags]`. */
const name = process.argv[2] as DaemonName;

function load(home: Home): TestDaemonConfig {
  const path = home.path('etc', `${name}.test.json`);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as TestDaemonConfig) : {};
}

const SETTINGS: DaemonSettings<TestDaemonConfig> = {
  load: ({ home }) => load(home),
  logWarnings: () => {},
  check({ home }) {
    const { checkError } = load(home);
    if (checkError !== undefined) throw new Error(checkError);
  },
  restartNeeded: ({ restartNeeded = [] }) => restartNeeded,
};

const TEST_DAEMON = defineDaemon({
  contract: defineContract(name, commonMethods),
  settings: SETTINGS,
  accept({ reloadError }, current) {
    if (current !== undefined && reloadError !== undefined) throw new Error(reloadError);
  },
  async build({ home, logger, settings, problems }, parts) {
    const { buildMs, buildError, problem, port, crashAfterMs } = settings.current;
    parts.defer(() => {
      writeFileSync(home.path('var', `${name}.drained`), '');
    });
    if (buildMs !== undefined) await delay(buildMs);
    if (buildError !== undefined) throw new Error(buildError);
    problems.set('test', problem);
    const server = parts.use(createServer());
    if (port !== undefined) {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, '127.0.0.1', resolve);
      });
    }
    const bound = server.address() as AddressInfo | null;
    if (crashAfterMs !== undefined) {
      setTimeout(() => {
        throw new Error('test crash');
      }, crashAfterMs);
    }
    parts.defer(() => delay(load(home).stopMs ?? 0));
    logger.debug('built');
    return {
      addresses: bound === null ? {} : { main: { protocol: 'tcp', address: '127.0.0.1', port: bound.port } },
    };
  },
});

void runDaemon(TEST_DAEMON, process.argv.slice(3));
