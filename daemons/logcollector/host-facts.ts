import { hostname, networkInterfaces } from 'node:os';
import type { HostFacts } from './file-source.js';

/** This host, as formats and `out_format` show it. */
export function hostFacts(): HostFacts {
  return { hostname: hostname(), address: hostAddress, now: () => new Date() };
}

/** The first address that is not a loopback one. */
function hostAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const outside = addresses.filter(({ internal }) => !internal);
  const address = outside.find(({ family }) => family === 'IPv4') ?? outside[0];
  return address?.address ?? '127.0.0.1';
}
