/*
 * Texts of findings (integrity-and-inventory.md 9.2): rules, and what svc-db keeps, go by them byte for byte. All are byte
 * strings.
 */

/** Marks of a scan (location `rootcheck`). */
export const SCAN_START = 'Starting rootcheck scan.';
export const SCAN_END = 'Ending rootcheck scan.';

/** A file of the list of rootkit files. */
export function rootkitFound(name: string, path: string): string {
  return `Rootkit '${name}' detected by the presence of file '${shown(path)}'.`;
}

export function trojanFound(path: string, signature: string, message: string): string {
  const what = message === '' ? 'Generic' : message;
  return `Trojaned version of file '${shown(path)}' detected. Signature used: '${signature}' (${what}).`;
}

export function fileOnDev(path: string): string {
  return `File '${shown(path)}' present on /dev. Possible hidden file.`;
}

export function writableByAnyone(path: string): string {
  return `File '${shown(path)}' is owned by root and has written permissions to anyone.`;
}

export function sizeAnomaly(path: string): string {
  return (
    `Anomaly detected in file '${shown(path)}'. File size doesn't match what we found. ` +
    'Possible kernel level rootkit.'
  );
}

export function hiddenFromStats(path: string): string {
  return (
    `Anomaly detected in file '${shown(path)}'. Hidden from stats, but showing up on readdir. ` +
    'Possible kernel level rootkit.'
  );
}

/** @param counted directories found in it, `.` and `..` included @param links its link count */
export function hiddenInDirectory(path: string, counted: number, links: bigint): string {
  return (
    `Files hidden inside directory '${shown(path)}'. ` +
    `Link count does not match number of files (${String(counted)},${String(links)}).`
  );
}

const bit = (seen: boolean): string => (seen ? '1' : '0');

/** @param kill, session whether each sees it */
export function hiddenFromKill(pid: number, kill: boolean, session: boolean): string {
  return (
    `Process '${String(pid)}' hidden from kill (${bit(kill)}) or getsid (${bit(session)}). ` +
    'Possible kernel-level rootkit.'
  );
}

/** Neither sees what the system lists. */
export function hiddenFromAll(pid: number): string {
  return `Process '${String(pid)}' hidden from kill (0), getsid (0) or getpgid. Possible kernel-level rootkit.`;
}

export function hiddenFromProc(pid: number): string {
  return `Process '${String(pid)}' hidden from /proc. Possible kernel level rootkit.`;
}

export function hiddenFromPs(pid: number): string {
  return `Process '${String(pid)}' hidden from ps. Possible trojaned version installed.`;
}

export const TOO_MANY_PROCESSES =
  'Excessive number of hidden processes. It maybe a false-positive or something really bad is going on.';

export function hiddenPort(port: number, protocol: 'tcp' | 'udp'): string {
  return `Port '${String(port)}'(${protocol}) hidden. Kernel-level rootkit or trojaned version of netstat.`;
}

export function tooManyPorts(protocol: 'tcp' | 'udp'): string {
  return (
    `Excessive number of '${protocol}' ports hidden. ` +
    'It maybe a false-positive or something really bad is going on.'
  );
}

export function promiscuous(name: string): string {
  return `Interface '${shown(name)}' in promiscuous mode.`;
}

/** @param path file that decided; none for what no file says */
export function auditFinding(name: string, path: string | undefined, reference: string): string {
  const file = path === undefined ? '' : ` File: ${shown(path)}.`;
  return `System Audit: ${name}.${file}${reference === '' ? '' : ` Reference: ${reference} .`}`;
}

/** A file name may hold a line end, which would make one finding look like two. */
function shown(name: string): string {
  return name.replace(/[\u0000-\u001f\u007f]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
