/**
 * What the daemons that carry out active responses and run modules would say of their configuration, where a build does not have them: nothing
 * of theirs is in force. By the part and the configuration that are asked for, as `com:active-response` (daemons-and-config.md 1.7).
 */
export const ABSENT_PARTS: ReadonlyMap<string, Readonly<Record<string, unknown>>> = new Map([
  ['com:active-response', { 'active-response': { disabled: 'yes', repeated_offenders: [] } }],
  ['wmodules:wmodules', { wmodules: [] }],
]);
