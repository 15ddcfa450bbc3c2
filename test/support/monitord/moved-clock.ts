import { readFileSync } from 'node:fs';

/**
 * Loaded into a daemon before anything else (`--import`): its calendar is ahead of the host's by as many milliseconds as the
 * file that `SVC_TEST_CLOCK` names has. The file may change at any time; timers run as ever.
 */
const file = process.env['SVC_TEST_CLOCK'];
const LOOK_MS = 20;
const HostDate = Date;
let lookedAt = -Infinity;
let ahead = 0;

function now(): number {
  if (file !== undefined && performance.now() - lookedAt >= LOOK_MS) {
    lookedAt = performance.now();
    ahead = Number(readFileSync(file, 'utf8'));
  }
  return HostDate.now() + ahead;
}

globalThis.Date = new Proxy(HostDate, {
  construct: (target, args: [], newTarget: typeof Date) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget === globalThis.Date ? target : newTarget),
  get: (target, name, receiver): unknown => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});
