import type { PermittedAgents } from './permitted-agents.js';
import type { PermittedIds } from './permitted-ids.js';

/** What a request may use, as the permission check hands it to a handler; which of them there are the contract says (`Operations`). */
export type Permitted = {
  readonly agents?: PermittedAgents;
  readonly groups?: PermittedIds;
  readonly nodes?: PermittedIds;
  readonly files?: PermittedIds;
  readonly users?: PermittedIds;
  readonly roles?: PermittedIds;
  readonly policies?: PermittedIds;
  readonly rules?: PermittedIds;
  /** Whether secrets are shown. */
  readonly secrets?: boolean;
  /** Whether the actions of `x-rbac-whole` are allowed on all there is. */
  readonly whole?: boolean;
};
