import { loadApiConfig, loadSecurityConfig } from '../lib/config/load-api-config.js';
import type { DaemonCheck } from '../lib/daemon/daemon-check.js';

/** What svc-apid finds in its configuration. */
export const check: DaemonCheck = ({ home }) => {
  try {
    loadApiConfig(home);
    loadSecurityConfig(home);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Configuration not valid. ERROR: ${reason}`, { cause: error });
  }
};
