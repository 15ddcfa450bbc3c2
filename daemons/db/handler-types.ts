import type { Handlers } from '../../lib/bus/contract.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import type { agentMethods } from '../../lib/bus/contracts/db-agents.js';

/** Answers to all methods about agents (lib/bus/contracts/db-agents.ts). */
export type AgentHandlers = Pick<Handlers<typeof dbContract>, keyof typeof agentMethods>;

/** Milliseconds since the epoch; tests bring their own. */
export type Now = () => number;
