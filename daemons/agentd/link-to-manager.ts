import { BlowfishCache } from '../../lib/agentlink/blowfish-cache.js';
import type { ClientKeysFile } from '../../lib/agentlink/client-keys-file.js';
import { buildKeepalive } from '../../lib/agentlink/keepalive.js';
import { MessageOpener } from '../../lib/agentlink/message-opener.js';
import { MessageSealer } from '../../lib/agentlink/message-sealer.js';
import type { SenderCounter } from '../../lib/agentlink/sender-counter.js';
import { readHomeRecord } from '../../lib/home/home-record.js';
import { COMPATIBILITY_VERSION } from '../../lib/product/version.js';
import type { AgentState } from './agent-state.js';
import type { AgentdContext } from './agentd-context.js';
import { AutoEnrollment } from './auto-enrollment.js';
import { ManagerLink } from './manager-link.js';
import type { ManagerOrders } from './manager-orders.js';
import type { SessionParts } from './session.js';
import type { HostReload } from './shared/host-reload.js';
import type { SharedUpdates } from './shared/shared-updates.js';

const SECOND_MS = 1000;

export type LinkToManagerParts = {
  readonly keys: ClientKeysFile;
  /** This host, as keepalives tell of it. */
  readonly uname: string;
  readonly counter: SenderCounter;
  readonly state: AgentState;
  readonly orders: ManagerOrders;
  readonly shared: SharedUpdates;
  readonly others: HostReload;
  readonly signal: AbortSignal;
};

/** The link to one of the managers, as the settings have it. */
export function linkToManager(context: AgentdContext, parts: LinkToManagerParts): ManagerLink {
  const { home, logger, settings, prepared, problems, reload } = context;
  const { client } = settings.started;
  const { keys, signal, others } = parts;
  return new ManagerLink({
    client,
    keys,
    name: prepared.name,
    renamed: () => {
      const { state: used } = settings.current.config.shared;
      if (used !== 'used' && used !== 'kept') return;
      logger.info('This agent has another name now: the shared configuration is read again.');
      // The outcome is logged where the reload runs; what cannot be read again stays as it is.
      void reload()
        .catch(() => {})
        .then(() => others.request());
    },
    enrollment: new AutoEnrollment(home, readHomeRecord(home), client.enrollment, logger, signal),
    logger,
    setProblem: problems.of('link'),
    signal,
    session: sessionParts(context, parts),
  });
}

function sessionParts(
  { logger, settings, prepared }: AgentdContext,
  { uname, counter, state, orders, shared }: LinkToManagerParts,
): SessionParts {
  const { client, options, reconnectAfter } = settings.started;
  const schedules = new BlowfishCache();
  return {
    sealer: new MessageSealer(schedules),
    opener: new MessageOpener(schedules),
    counter,
    state,
    logger,
    form: client.crypto_method === 'blowfish' ? 'blowfish' : 'aes',
    notifyMs: client.notify_time * SECOND_MS,
    silentMs: reconnectAfter * SECOND_MS,
    answerMs: options.get('agent.recv_timeout') * SECOND_MS,
    renewMs: () => settings.current.client.force_reconnect_interval * SECOND_MS,
    keepalive: (agentIp) => {
      const { merged: mergedSum, config: configSum } = prepared.folder.sums;
      const version = `Wazuh v${COMPATIBILITY_VERSION}`;
      return buildKeepalive({ uname, version, configSum, mergedSum, agentIp }, settings.current.config.labels);
    },
    control: (control, session) => {
      orders.take(control, session);
    },
    pushed: (result) => {
      shared.take(result);
    },
    now: () => Date.now(),
  };
}
