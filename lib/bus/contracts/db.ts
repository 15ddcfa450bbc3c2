import { defineContract } from '../contract.js';
import { commonMethods } from './common.js';
import { agentMethods } from './db-agents.js';
import { fimMethods } from './db-fim.js';
import { groupMethods } from './db-groups.js';

/** What svc-db answers: the registry of agents, their labels and groups, and what is known of their files. */
export const dbContract = defineContract('svc-db', {
  ...commonMethods,
  ...agentMethods,
  ...groupMethods,
  ...fimMethods,
});
