/** Major, minor and patch number. */
export type ReleaseVersion = readonly [number, number, number];

/** Reads `Wazuh v4.14.7`, `v4.14.7` or `4.14.7`; undefined for what has no three numbers. */
export function parseRelease(text: string): ReleaseVersion | undefined {
  const found = /^(?:[A-Za-z]+ )?v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?!\d)/.exec(text);
  return found === null ? undefined : [Number(found[1]), Number(found[2]), Number(found[3])];
}

/** Below 0 when the first is the lower one, 0 when they are the same. */
export function compareReleases(a: ReleaseVersion, b: ReleaseVersion): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/** `v4.14.7` */
export function releaseText(version: ReleaseVersion): string {
  return `v${version.join('.')}`;
}
