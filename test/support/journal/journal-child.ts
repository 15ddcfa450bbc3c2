import { writeSync } from 'node:fs';
import { Journal } from '../../../lib/journal/journal.js';

/*
 * A process that appends to a journal until it is killed: `journal-child.js DIRECTORY SYNC FROM`. Records are numbered
 * from FROM on; a line says what was acknowledged, as `ok NUMBER POSITION`, or refused, as `no NUMBER CODE`.
 */

/** Whatever happens to the test, the child ends. */
const LIFETIME_MS = 15_000;
/** Appends on their way. */
const CALLERS = 8;
/** Refusals after which it gives up. */
const MAX_REFUSALS = 20;

const [directory = '', sync = 'batch', from = '0'] = process.argv.slice(2);
setTimeout(() => process.exit(3), LIFETIME_MS).unref();
const journal = await Journal.open({
  directory,
  sync: sync === 'batch' || sync === 'never' ? sync : Number(sync),
  segmentBytes: 64 * 1024,
  maxBytes: 64 * 1024 * 1024,
  onDamage: (report) => writeSync(1, `damage ${report.kind}\n`),
});
let number = Number(from);
let refusals = 0;
const caller = async (): Promise<void> => {
  while (refusals < MAX_REFUSALS) {
    const mine = number;
    number += 1;
    const payload = Buffer.alloc(8 + ((mine * 7919) % 3000), mine % 251);
    payload.writeDoubleLE(mine);
    try {
      const { position } = await journal.append(1, payload, mine);
      writeSync(1, `ok ${mine} ${position}\n`);
    } catch (error) {
      refusals += 1;
      writeSync(1, `no ${mine} ${(error as NodeJS.ErrnoException).code ?? 'none'}\n`);
    }
  }
};
await Promise.all(Array.from({ length: CALLERS }, caller));
await journal.close();
