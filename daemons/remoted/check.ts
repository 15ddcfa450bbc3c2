import type { DaemonCheck } from '../../lib/daemon/daemon-check.js';
import { checkSettings } from '../../lib/daemon/daemon-settings.js';
import { SETTINGS } from './remoted-settings.js';

/** What svc-remoted finds in its configuration. */
export const check: DaemonCheck = (context) => {
  checkSettings(SETTINGS, context);
};
