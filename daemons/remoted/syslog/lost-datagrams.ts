import { readFile } from 'node:fs/promises';

/** Where Linux says what it threw away, by socket. */
const TABLES = ['/proc/self/net/udp', '/proc/self/net/udp6'];
const LOCAL_ADDRESS = 1;
const DROPS = -1;

/** Datagrams for these local ports that the system threw away since their sockets were bound; 0 where it does not tell. */
export async function lostDatagrams(ports: ReadonlySet<number>): Promise<number> {
  let lost = 0;
  for (const path of TABLES) lost += sumDrops(await readFile(path, 'latin1').catch(() => ''), ports);
  return lost;
}

/** @param table text of `/proc/net/udp`: `sl local_address rem_address ... drops`, addresses and ports in hex digits */
export function sumDrops(table: string, ports: ReadonlySet<number>): number {
  let lost = 0;
  for (const line of table.split('\n').slice(1)) {
    const columns = line.trim().split(/\s+/);
    const port = Number.parseInt(columns[LOCAL_ADDRESS]?.split(':')[1] ?? '', 16);
    if (ports.has(port)) lost += Number(columns.at(DROPS)) || 0;
  }
  return lost;
}
