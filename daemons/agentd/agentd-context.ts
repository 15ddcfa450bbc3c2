import type { agentdContract } from '../../lib/bus/contracts/agentd.js';
import type { BuildContext } from '../../lib/daemon/define-daemon.js';
import type { AgentdSettings } from './agentd-settings.js';
import type { OrderStore } from './order-store.js';
import type { SharedFolder } from './shared/shared-folder.js';

/** What svc-agentd reads before its settings. */
export type AgentdPrepared = {
  /** In order, whatever an interrupted push has left in it. */
  readonly folder: SharedFolder;
  /** Orders that svc-execd has not taken over yet. */
  readonly orders: OrderStore;
  /** The name in the agent's key; undefined without one. */
  readonly name: string | undefined;
};

/** What the parts of svc-agentd are made of. */
export type AgentdContext = BuildContext<typeof agentdContract, AgentdSettings, AgentdPrepared>;
