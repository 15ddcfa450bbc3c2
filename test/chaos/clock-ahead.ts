import { CLOCK_AHEAD } from './run-clock.js';

/*
 * Loaded before everything else (`node --import`) into processes of the product, whose clock of the day then goes ahead of
 * that of the host. Nothing else does: timers, the monotonic clock, and the times of files stay as they are.
 */
const aheadMs = Number(process.env[CLOCK_AHEAD] ?? 0);
const HostDate = Date;
const now = (): number => HostDate.now() + aheadMs;

globalThis.Date = new Proxy(HostDate, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
  apply: () => new HostDate(now()).toString(),
  get: (target, key, receiver) => (key === 'now' ? now : (Reflect.get(target, key, receiver) as unknown)),
});
