import { readFileSync } from 'node:fs';

/*
 * Imported into programs of a test before anything else: their clock is off by what a file says, in milliseconds, which
 * SVC_TEST_CLOCK names, and follows it. The steady clock is not.
 */
const LOOK_MS = 200;
const file = process.env['SVC_TEST_CLOCK'];
const TrueDate = Date;
let skew = 0;

function look(): void {
  try {
    skew = Number(readFileSync(file ?? '', 'utf8')) || 0;
  } catch {
    // None is set.
  }
}

if (file !== undefined) {
  look();
  setInterval(look, LOOK_MS).unref();
  const now = (): number => TrueDate.now() + skew;
  globalThis.Date = new Proxy(TrueDate, {
    construct: (target, args: unknown[], made) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, made) as object,
    apply: () => new TrueDate(now()).toString(),
    get: (target, member) => (member === 'now' ? now : (Reflect.get(target, member) as unknown)),
  });
}
