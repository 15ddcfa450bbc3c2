/**
 * What a daemon that runs modules would say of its configuration, where a build or a host does not have it: nothing of it is in
 * force. By the part and the configuration that are asked for (daemons-and-config.md 1.7).
 */
export const ABSENT_PARTS: ReadonlyMap<string, Readonly<Record<string, unknown>>> = new Map([
  ['wmodules:wmodules', { wmodules: [] }],
]);
