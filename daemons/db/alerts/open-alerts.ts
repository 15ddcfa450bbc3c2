import type { AlertStoreConfig } from '../../../lib/config/sections/alert-store.js';
import type { DaemonParts } from '../../../lib/daemon/daemon-parts.js';
import type { Home } from '../../../lib/home/home.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { AgentSelection } from './agent-selection.js';
import { AlertService } from './alert-service.js';
import type { StoreLimits } from './alert-store.js';
import { type AlertHandlers, withoutStore } from './without-store.js';

/** The alerts that can be searched, as svc-db sees them. */
export type Alerts = {
  readonly handlers: AlertHandlers;
  readonly start: () => void;
  /** Takes over how long alerts are kept; on and off need a restart. */
  readonly apply: (settings: AlertStoreConfig) => Promise<void>;
};

export type OpenAlertsParts = {
  readonly home: Home;
  readonly logger: Logger;
  readonly settings: AlertStoreConfig;
  readonly agents: AgentSelection;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Makes the store of alerts, or what answers while it is off. */
export function openAlerts({ home, logger, settings, agents, now }: OpenAlertsParts, parts: DaemonParts): Alerts {
  if (!settings.enabled) {
    return { handlers: withoutStore(), start: () => {}, apply: () => Promise.resolve() };
  }
  const directory = home.path('queue', 'db', 'alerts');
  const alerts = home.path('logs', 'alerts');
  const limits = limitsOf(settings);
  const service = parts.use(new AlertService({ directory, alerts, limits, agents, logger, now }));
  return {
    handlers: service.handlers,
    start: () => {
      service.start();
    },
    apply: (next) => service.setLimits(limitsOf(next)),
  };
}

function limitsOf({ keep_days: days, max_size: bytes }: AlertStoreConfig): StoreLimits {
  return { days, bytes };
}
