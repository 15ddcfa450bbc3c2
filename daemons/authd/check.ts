import type { DaemonCheck } from '../../lib/daemon/daemon-check.js';
import { checkSettings } from '../../lib/daemon/daemon-settings.js';
import { SETTINGS } from './authd-settings.js';

/** What svc-authd finds in its configuration. */
export const check: DaemonCheck = (context) => {
  checkSettings(SETTINGS, context);
};
