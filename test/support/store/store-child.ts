import * as z from 'zod';
import { LmdbStore } from '../../../lib/store/lmdb-store.js';
import { StoreError } from '../../../lib/store/store-error.js';

/*
 * `store-child.js pairs DIRECTORY`: commits an entry in each of two tables, again and again, and prints a number when
 * its pair is on disk. It goes on after the last pair of another run.
 * `store-child.js fill DIRECTORY`: commits large entries until one is refused; then whether the store still works.
 */
const [mode = '', directory = ''] = process.argv.slice(2);
// A file size limit stands for a full disk; without this the signal would end the process.
process.on('SIGXFSZ', () => {});

const store = await LmdbStore.open({ directory, tables: ['left', 'right'] });
const left = store.table<number, string>('left', z.string());
const right = store.table<number, string>('right', z.string());
const say = (line: string) => process.stdout.write(`${line}\n`);

if (mode === 'pairs') {
  let next = [...left.entries()].length;
  for (;;) {
    const numbers = [next, next + 1, next + 2];
    await Promise.all(
      numbers.map((number) => store.commit([left.put(number, `l${number}`), right.put(number, `r${number}`)])),
    );
    next += numbers.length;
    say(String(next - 1));
  }
}

const large = 'x'.repeat(50_000);
let refused: unknown;
let undone = 0;
let count = 0;
for (; count < 2000 && refused === undefined; count += 1) {
  try {
    await store.commit([left.put(count, large), right.put(count, 'small')], () => undone++);
  } catch (error) {
    refused = error;
  }
}
say(`refused ${refused instanceof StoreError ? refused.code : String(refused)} undone ${undone}`);
say(`last ${left.get(count - 1) === undefined && right.get(count - 1) === undefined ? 'absent' : 'there'}`);
await store.commit([left.put(0, 'changed')]);
say(`small ${left.get(0)}`);
await store.close();
