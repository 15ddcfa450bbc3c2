import * as z from 'zod';
import { type ShownTask, TASK_COMMANDS, TASK_STATUSES } from '../../../lib/bus/contracts/modulesd.js';

/** Module that upgrades are tasks of, as clients of Wazuh 4.x know it. */
export const UPGRADE_MODULE = 'upgrade_module';

/** What an upgrade needs to be carried out, also after a restart. */
const upgradeWork = z.object({
  /** Package below `var/upgrade`. */
  path: z.string(),
  /** Program of the package that the agent runs. */
  installer: z.string(),
  /** `v4.14.7`; absent for a package that somebody named. */
  version: z.string().optional(),
  /**
   * `sending`: nothing has happened on the agent that a new start would not undo. `installing`: the order to install was
   * given, or was about to be; it is never given twice.
   */
  phase: z.enum(['sending', 'installing']),
  /** How often it was begun to send the package. */
  attempts: z.number().int(),
});

/** A task as it is stored; its id is its key. */
export const taskRecord = z.object({
  agent: z.string(),
  node: z.string(),
  module: z.string(),
  command: z.enum(TASK_COMMANDS),
  status: z.enum(TASK_STATUSES),
  /** Epoch seconds. */
  created: z.number().int(),
  updated: z.number().int(),
  error: z.string(),
  work: upgradeWork,
});
export type TaskRecord = Readonly<z.output<typeof taskRecord>>;

/** A task with its id. */
export type Task = TaskRecord & { readonly id: number };

/** Whether something is still to be done or to be heard. */
export function isUnfinished({ status }: TaskRecord): boolean {
  return status === 'Pending' || status === 'In progress';
}

/** A task as others see it. */
export function shownTask({ work: _work, ...shown }: Task): ShownTask {
  return shown;
}
