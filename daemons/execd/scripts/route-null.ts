import { isIPv6 } from 'node:net';
import type { Outcome, Response, ResponseHost } from './response.js';

/** `route-null`: answers to an address go nowhere (daemons-and-config.md 5.4). */
export const ROUTE_NULL: Response = {
  subject: 'address',
  add(address, host) {
    return change(host, {
      ip: (ip) => {
        const { ok, problem } = host.tools.run(ip, [
          ...family(address),
          'route',
          'replace',
          'blackhole',
          whole(address),
        ]);
        return ok ? undefined : problem;
      },
      route: (route) => {
        if (hasRoute(address, host, route)) return undefined;
        const { ok, problem } = host.tools.run(route, routeArguments('add', address));
        return ok ? undefined : problem;
      },
    });
  },
  remove(address, host) {
    return change(host, {
      ip: (ip) => {
        const listed = host.tools.run(ip, [...family(address), 'route', 'show', 'type', 'blackhole', whole(address)]);
        if (!listed.ok) return listed.problem;
        if (listed.output.trim() === '') return undefined;
        const { ok, problem } = host.tools.run(ip, [...family(address), 'route', 'del', 'blackhole', whole(address)]);
        return ok ? undefined : problem;
      },
      route: (route) => {
        if (!hasRoute(address, host, route)) return undefined;
        const { ok, problem } = host.tools.run(route, routeArguments('del', address));
        return ok ? undefined : problem;
      },
    });
  },
};

type ByTool = { readonly ip: (tool: string) => Outcome; readonly route: (tool: string) => Outcome };

function change({ tools }: ResponseHost, by: ByTool): Outcome {
  const ip = tools.find('ip');
  if (ip !== undefined) return by.ip(ip);
  const route = tools.find('route');
  return route === undefined ? 'There is neither ip nor route' : by.route(route);
}

function family(address: string): readonly string[] {
  return isIPv6(address) ? ['-6'] : ['-4'];
}

function whole(address: string): string {
  return `${address}/${isIPv6(address) ? '128' : '32'}`;
}

/** For hosts that have the older tool alone. */
function routeArguments(command: 'add' | 'del', address: string): readonly string[] {
  return isIPv6(address) ? ['-A', 'inet6', command, whole(address), 'reject'] : [command, '-host', address, 'reject'];
}

/** Whether a line of the table begins with the address and is a rejection (`!`). */
function hasRoute(address: string, { tools }: ResponseHost, route: string): boolean {
  const { output } = tools.run(route, isIPv6(address) ? ['-A', 'inet6', '-n'] : ['-n']);
  return output.split('\n').some((line) => {
    const [destination, ...rest] = line.trim().split(/\s+/);
    return (destination === address || destination === whole(address)) && rest.some((word) => word.includes('!'));
  });
}
