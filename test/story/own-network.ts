import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** Where the product looks for the tools of the system, too. */
const PATH = '/usr/sbin:/sbin:/usr/bin:/bin';
/** In a network that was made a moment ago even the loopback is down. */
const UP = 'ip link set lo up && nft list tables';
/** Root makes a network; others first become root of a world of users of their own. */
const WAYS: readonly (readonly string[])[] = [['--net'], ['--map-root-user', '--net']];

/** How a network of its own with a firewall is made, as arguments of `unshare`; undefined where that does not go. */
export function networkOfItsOwn(): readonly string[] | undefined {
  return WAYS.find((way) => {
    const { status } = spawnSync('unshare', [...way, '--', 'sh', '-c', UP], { env: { PATH }, stdio: 'ignore' });
    return status === 0;
  });
}

/** Runs Node there with these arguments, handing signals on. @returns its exit code */
export async function runInNetwork(way: readonly string[], args: readonly string[]): Promise<number> {
  const script = 'ip link set lo up && exec "$0" "$@"';
  const command = ['sh', '-c', script, process.execPath, ...process.execArgv, ...args];
  const child = spawn('unshare', [...way, '--', ...command], {
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:${PATH}` },
    stdio: 'inherit',
  });
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => child.kill(name));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
