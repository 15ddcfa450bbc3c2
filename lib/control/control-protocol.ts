import * as z from 'zod';
import { MAX_CONFIGURATION_BYTES } from '../config/configuration-file.js';
import type { Home } from '../home/home.js';

/**
 * Socket on which the supervisor takes every command: one JSON object a line, answers the same way. It lies in a directory
 * that only root (or the user who has the whole home) enters: Node cannot ask a unix socket who its peer is.
 */
export function ownerSocket(home: Home): string {
  return home.path(CONTROL_DIRECTORY, 'supervisor.sock');
}

/** Directory of {@link ownerSocket}, relative to the home. */
export const CONTROL_DIRECTORY = 'var/control';

/** The same for the group of the home, the service user in it, which may ask for {@link GROUP_COMMANDS} only. */
export function controlSocket(home: Home): string {
  return home.path('var', 'run', 'svc-control.sock');
}

/** Held by the one supervisor of a home. */
export function supervisorLock(home: Home): string {
  return home.path('var', 'run', 'svc-control.lock');
}

/** Longest line either side accepts, in bytes: a peer that sends rubbish must not fill memory. */
export const MAX_LINE_BYTES = 262_144;

/** How the one request begins that may be longer, and how long: JSON takes two bytes for a line break and a quote. */
export const LONG_LINE = {
  prefix: '{"command":"configure",',
  maxBytes: 2 * MAX_CONFIGURATION_BYTES + MAX_LINE_BYTES,
} as const;

/**
 * What `svc-control` asks of the supervisor. Without `daemons` a command means all that should run. `configure` comes from
 * svc-apid with the whole main configuration, which has to pass {@link replaceConfiguration}.
 */
export const controlRequest = z.union([
  z.strictObject({
    command: z.enum(['ping', 'status', 'start', 'stop', 'restart', 'reload']),
    daemons: z.array(z.string().max(32)).max(32).optional(),
  }),
  z.strictObject({ command: z.literal('configure'), text: z.string() }),
]);
export type ControlRequest = z.infer<typeof controlRequest>;

/**
 * What the group of a home may ask for: nothing that stays stopped, nothing that names paths, and no settings but those
 * that `configure` lets through.
 */
export const GROUP_COMMANDS: ReadonlySet<ControlRequest['command']> = new Set([
  ...(['ping', 'status', 'restart', 'reload', 'configure'] as const),
]);

/** Something that happened to a daemon during a command, in the words of {@link ProgressEvent}. */
const progressEvent = z.object({
  daemon: z.string(),
  event: z.enum([
    'started',
    'already-running',
    'start-failed',
    'stopping',
    'stopped',
    'killed',
    'not-running',
    'reloaded',
    'reload-refused',
  ]),
  pid: z.number().optional(),
  reason: z.string().optional(),
  restartNeeded: z.array(z.string()).optional(),
});
export type ProgressEvent = z.infer<typeof progressEvent>;

const supervisedState = z.object({
  wanted: z.boolean(),
  restarts: z.number(),
  nextTryMs: z.number().optional(),
  lastFailure: z.string().optional(),
});

/** Answer to `status` and `ping`. */
const supervisorReport = z.object({
  pid: z.number(),
  /** Epoch milliseconds. */
  startedAt: z.number(),
  version: z.string(),
  daemons: z.record(z.string(), supervisedState),
});
export type SupervisorReport = z.infer<typeof supervisorReport>;

/** One line of an answer: any number of events, then exactly one `done` or `error`. */
export const controlReply = z.union([
  z.object({ kind: z.literal('event'), event: progressEvent }),
  z.object({ kind: z.literal('done'), report: supervisorReport.optional() }),
  z.object({ kind: z.literal('error'), message: z.string(), code: z.number().optional() }),
]);
export type ControlReply = z.infer<typeof controlReply>;
