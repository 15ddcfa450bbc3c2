/** Release line of an agent or a manager; the patch number never counts (agents-and-groups.md 4.2). */
export type ReleaseLine = { readonly major: number; readonly minor: number };

/** Reads `v4.14.7`, `4.14.7` or `4.14`; what is missing or no number is 0, so that odd versions count as old ones. */
function parseReleaseLine(version: string): ReleaseLine {
  const found = /^\s*v?(\d{1,6})(?:\.(\d{1,6}))?/.exec(version);
  return { major: Number(found?.[1] ?? 0), minor: Number(found?.[2] ?? 0) };
}

/** Whether an agent's release line is above the manager's. */
export function isHigherVersion(agent: string, manager: string): boolean {
  const [theirs, ours] = [parseReleaseLine(agent), parseReleaseLine(manager)];
  return theirs.major === ours.major ? theirs.minor > ours.minor : theirs.major > ours.major;
}

/** Whether an agent is one of OSSEC-HIDS, `OSSEC HIDS v4.2.0`: its numbers are not those of Wazuh releases. */
export function isOssecVersion(version: string): boolean {
  return /^\s*OSSEC\b/i.test(version);
}

/** Whether a release line as agents say theirs (`Wazuh v4.14.7`) is below another one; that of an OSSEC-HIDS agent always is. */
export function isOlderThan(version: string, line: ReleaseLine): boolean {
  if (isOssecVersion(version)) return true;
  const { major, minor } = parseReleaseLine(version.replace(/^\D*(?=\d)/, ''));
  return major < line.major || (major === line.major && minor < line.minor);
}
