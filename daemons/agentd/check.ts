import type { DaemonCheck } from '../../lib/daemon/daemon-check.js';
import { checkSettings } from '../../lib/daemon/daemon-settings.js';
import { SETTINGS } from './agentd-settings.js';

/** What svc-agentd finds in its configuration. */
export const check: DaemonCheck = (context) => {
  checkSettings(SETTINGS, context);
};
