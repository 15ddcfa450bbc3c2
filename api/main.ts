import { analysisdContract } from '../lib/bus/contracts/analysisd.js';
import { apidContract } from '../lib/bus/contracts/apid.js';
import { authdContract } from '../lib/bus/contracts/authd.js';
import { commonHandlers } from '../lib/bus/contracts/common.js';
import { dbContract } from '../lib/bus/contracts/db.js';
import { monitordContract } from '../lib/bus/contracts/monitord.js';
import { remotedContract } from '../lib/bus/contracts/remoted.js';
import { EventProducer } from '../lib/bus/event-producer.js';
import { RequestClient } from '../lib/bus/request-client.js';
import { RequestServer } from '../lib/bus/request-server.js';
import { describeWarning } from '../lib/config/config-error.js';
import { loadApiConfig, loadSecurityConfig } from '../lib/config/load-api-config.js';
import { productCatalogue } from '../lib/control/daemon-catalogue.js';
import type { DaemonContext, DaemonSpec, RunningDaemon } from '../lib/daemon/daemon-spec.js';
import { runDaemon } from '../lib/daemon/run-daemon.js';
import { Api } from './api.js';
import { apiHandlers } from './api-handlers.js';
import { check } from './check.js';
import { settingsFromConfig } from './settings-from-config.js';

/** How long unacknowledged events may take at a stop, milliseconds. */
const DRAIN_MS = 1000;

const spec: DaemonSpec = {
  name: 'svc-apid',
  check,
  build: buildApid,
};

async function buildApid({ home, logger, reload }: DaemonContext): Promise<RunningDaemon> {
  let loaded = loadApiConfig(home);
  loadSecurityConfig(home);
  for (const warning of loaded.warnings) logger.warn(describeWarning(warning));
  if (loaded.config.https.ssl_protocol === 'tlsv1' || loaded.config.https.ssl_protocol === 'tlsv1.1') {
    logger.warn(`The TLS version ${loaded.config.https.ssl_protocol} is deprecated: TLS 1.2 and 1.3 are used.`);
  }

  const monitord = new RequestClient({ contract: monitordContract, path: home.socket('svc-monitord') });
  const analysisd = new RequestClient({ contract: analysisdContract, path: home.socket('svc-analysisd') });
  const db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const authd = new RequestClient({ contract: authdContract, path: home.socket('svc-authd') });
  const remoted = new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') });
  const outlet = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-apid', logger });
  outlet.start();

  const { handlers, node } = apiHandlers({
    home,
    logger,
    monitord,
    analysisd,
    db,
    authd,
    remoted,
    outlet,
    catalogue: productCatalogue(),
    apiConfig: () => loaded.config,
    now: Date.now,
    monotonic: () => performance.now(),
  });
  const api = await Api.start({ home, settings: settingsFromConfig(loaded.config, home), logger, handlers, node });

  const commands = new RequestServer({
    contract: apidContract,
    handlers: commonHandlers('svc-apid', {
      stats: () => ({ ...api.stats(), events: outlet.stats() }),
      sections: new Map([['api', () => ({ ...loaded.config })]]),
      reload,
    }),
    path: home.socket('svc-apid'),
    logger,
  });
  await commands.start();

  return {
    addresses: Object.fromEntries(
      api.addresses.map(({ host, port }, index) => [
        index === 0 ? 'api' : `api${index + 1}`,
        { protocol: loaded.config.https.enabled ? 'https' : 'tcp', address: host, port },
      ]),
    ),
    reload: () => {
      const fresh = loadApiConfig(home);
      loadSecurityConfig(home);
      const restartNeeded = api.reload(settingsFromConfig(fresh.config, home));
      loaded = fresh;
      for (const warning of fresh.warnings) logger.warn(describeWarning(warning));
      return Promise.resolve(restartNeeded);
    },
    stop: async () => {
      await commands.stop(0);
      await api.stop();
      await outlet.close(DRAIN_MS);
      for (const client of [analysisd, db, authd, remoted]) client.close();
      monitord.close();
    },
  };
}

await runDaemon(spec);
