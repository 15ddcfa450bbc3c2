import { hostname, networkInterfaces } from 'node:os';
import type { HostFacts } from './file-source.js';

/** This host, as formats and `out_format` show it. The address is the first that is not a loopback one. */
export function hostFacts(): HostFacts {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const outside = addresses.filter(({ internal }) => !internal);
  const address = outside.find(({ family }) => family === 'IPv4') ?? outside[0];
  return { hostname: hostname(), address: address?.address ?? '127.0.0.1', now: () => new Date() };
}
