import { describeError } from '../../../lib/log/describe-error.js';
import type { Response } from './response.js';

/** `restart-manager`, `restart-wazuh`: what runs on this home is started again (daemons-and-config.md 5.4). */
export const RESTART_MANAGER: Response = {
  subject: 'nothing',
  async add(_subject, { restart }) {
    try {
      await restart();
      return undefined;
    } catch (error) {
      return describeError(error);
    }
  },
};
