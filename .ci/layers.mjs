// What lies in lib is used by at least two of the floors above: api, bin, and each daemon by itself. Lists what is not, and
// exits with 1 when there is any. Who may import whom at all is said in .dependency-cruiser.cjs.
import { FLOORS, readModules } from './modules.mjs';

/** What lies in lib for another reason: [beginning of the path, reason]. */
const ALLOWED = [
  ['lib/journal/', 'a storage format that the promise about loss rests on'],
  ['lib/output/', 'a storage format; consumers of alerts read it from other daemons'],
  ['lib/bus/contracts/', 'one a daemon'],
  ['lib/events/fim/', 'a wire format: it is written in one daemon and read in others'],
  ['lib/events/sync/', 'a wire format: it is written in one daemon and read in others'],
  ['lib/cluster/', 'what the nodes of a cluster share: several daemons decide, each about its kinds'],
  ['lib/sync/', 'the synchronisation of files; the inventory needs the same'],
  ['lib/events/inventory/', 'a wire format: it is written in one daemon and read in others'],
];

const modules = readModules();

/** @returns the part of the product that a module belongs to; undefined in lib and in tests */
function unitOf(file) {
  const [floor, name] = file.split('/');
  if (floor === 'daemons') return name;
  return floor === 'api' || floor === 'bin' ? floor : undefined;
}

const users = new Map([...modules.keys()].map((file) => [file, new Set()]));
function reach(file, unit) {
  for (const { target } of modules.get(file)?.imports ?? []) {
    const known = users.get(target);
    if (known === undefined || known.has(unit)) continue;
    known.add(unit);
    reach(target, unit);
  }
}
for (const file of modules.keys()) {
  const unit = unitOf(file);
  if (unit !== undefined && FLOORS.includes(file.split('/')[0])) reach(file, unit);
}

let found = 0;
for (const [file, units] of users) {
  if (!file.startsWith('lib/') || units.size > 1 || ALLOWED.some(([start]) => file.startsWith(start))) continue;
  console.error(`${file} is used by ${[...units][0] ?? 'nobody'} alone: it belongs there`);
  found += 1;
}
process.exitCode = found > 0 ? 1 : 0;
