import type { DaemonCheck } from '../../lib/daemon/daemon-check.js';
import { checkSettings } from '../../lib/daemon/daemon-settings.js';
import { SETTINGS } from './analysisd-settings.js';

/** What svc-analysisd finds in its configuration, the ruleset included. */
export const check: DaemonCheck = (context) => {
  checkSettings(SETTINGS, context);
};
