import * as z from 'zod';
import { defineContract } from '../contract.js';
import { commonMethods } from './common.js';
import { agentMethods } from './db-agents.js';
import { alertMethods } from './db-alerts.js';
import { backupMethods } from './db-backups.js';
import { fimMethods } from './db-fim.js';
import { groupMethods } from './db-groups.js';
import { handoverMethods } from './db-handover.js';
import { inventoryMethods } from './db-inventory.js';
import { presenceMethods } from './db-presence.js';
import { scaMethods } from './db-sca.js';

/**
 * What svc-db answers: the registry of agents, their labels and groups, their files, what else is on their hosts, how they do
 * by policies, and the alerts that can be searched.
 */
export const dbContract = defineContract('svc-db', {
  ...commonMethods,
  ...agentMethods,
  ...presenceMethods,
  ...handoverMethods,
  ...groupMethods,
  ...fimMethods,
  ...inventoryMethods,
  ...scaMethods,
  ...backupMethods,
  ...alertMethods,
  /** What was asked and how long it took, as `GET /manager/daemons/stats` shows it (daemons-and-config.md 11.3). */
  'statistics.read': { params: z.object({}), result: z.record(z.string(), z.unknown()) },
});
