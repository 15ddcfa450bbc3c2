import { analysisdContract } from '../lib/bus/contracts/analysisd.js';
import { apidContract } from '../lib/bus/contracts/apid.js';
import { authdContract } from '../lib/bus/contracts/authd.js';
import { clusterdContract } from '../lib/bus/contracts/clusterd.js';
import { dbContract } from '../lib/bus/contracts/db.js';
import { execdContract } from '../lib/bus/contracts/execd.js';
import { modulesdContract } from '../lib/bus/contracts/modulesd.js';
import { monitordContract } from '../lib/bus/contracts/monitord.js';
import { remotedContract } from '../lib/bus/contracts/remoted.js';
import { EventProducer } from '../lib/bus/event-producer.js';
import { RequestClient } from '../lib/bus/request-client.js';
import { productCatalogue } from '../lib/control/daemon-catalogue.js';
import { defineDaemon } from '../lib/daemon/define-daemon.js';
import { NewAlerts } from './alerts/new-alerts.js';
import { startApi } from './api.js';
import { apiHandlers } from './api-handlers.js';
import { SETTINGS } from './apid-settings.js';
import { SECURITY_FLAG, securityTask } from './auth/offline-security.js';
import { watchedClient } from './daemons/daemon-presence.js';
import { recordsClient } from './daemons/records-client.js';

/** How long unacknowledged events may take at a stop, milliseconds. */
const DRAIN_MS = 1000;

/** svc-apid: the HTTPS API. */
export const APID = defineDaemon({
  contract: apidContract,
  settings: SETTINGS,
  ownFlags: [SECURITY_FLAG],
  task: securityTask,
  // The certificate is read again first, and may be refused.
  warnAfterApply: true,
  async build({ home, logger, settings, requests }, parts) {
    const monitord = parts.use(watchedClient(home, monitordContract));
    const analysisd = parts.use(watchedClient(home, analysisdContract));
    const db = parts.use(watchedClient(home, dbContract));
    const authd = parts.use(watchedClient(home, authdContract));
    const remoted = parts.use(watchedClient(home, remotedContract));
    const modulesd = parts.use(watchedClient(home, modulesdContract));
    const execd = parts.use(watchedClient(home, execdContract));
    const clusterd = parts.use(watchedClient(home, clusterdContract));
    const news = parts.use(
      new NewAlerts(parts.use(new RequestClient({ contract: dbContract, path: home.socket('svc-db') }))),
    );
    const outlet = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-apid', logger });
    parts.adopt(outlet, () => outlet.close(DRAIN_MS));
    outlet.start();

    const operations = apiHandlers({
      home,
      logger,
      monitord,
      analysisd,
      db,
      news,
      authd,
      remoted,
      modulesd,
      execd,
      clusterd,
      outlet,
      catalogue: productCatalogue(),
      apiConfig: () => settings.current.config,
      settings: () => settings.current.api,
      now: Date.now,
      monotonic: () => performance.now(),
    });
    const records = settings.started.isNode ? recordsClient(home, clusterd, parts) : undefined;
    const api = await startApi({ home, settings: settings.current.api, logger, records, ...operations }, parts);
    const stats = () => ({ ...api.stats(), events: outlet.stats() });
    const commands = requests({ stats, handlers: api.handlers });
    await commands.start();
    parts.defer(() => commands.stop(0));

    const protocol = settings.started.config.https.enabled ? 'https' : 'tcp';
    return {
      addresses: Object.fromEntries(
        api.addresses.map(({ host, port }, index) => [
          index === 0 ? 'api' : `api${index + 1}`,
          { protocol, address: host, port },
        ]),
      ),
      apply: (now) => api.reload(now.api),
    };
  },
});
