import type { SettingsInForce } from '../../lib/daemon/daemon-settings.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import type { FloodGuard } from './flood-guard.js';
import type { RemotedCounters } from './remoted-counters.js';
import type { RemotedSettings } from './remoted-settings.js';

/** What every group of parts of svc-remoted is made of. */
export type RemotedBase = {
  readonly home: Home;
  readonly logger: Logger;
  readonly settings: SettingsInForce<RemotedSettings>;
  readonly counters: RemotedCounters;
  /** For what peers do. */
  readonly log: FloodGuard;
};
