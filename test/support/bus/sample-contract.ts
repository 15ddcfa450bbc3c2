import * as z from 'zod';
import { BusError } from '../../../lib/bus/bus-error.js';
import { defineContract, type Handlers } from '../../../lib/bus/contract.js';
import { commonHandlers, commonMethods } from '../../../lib/bus/contracts/common.js';

/** A contract for tests of the bus, as a daemon would declare one. */
export const sampleContract = defineContract('svc-db', {
  ...commonMethods,
  add: { params: z.object({ a: z.number(), b: z.number().default(1) }), result: z.number() },
  echo: { params: z.unknown(), result: z.unknown() },
  wait: { params: z.object({ ms: z.number() }), result: z.string() },
  fail: { params: z.object({ code: z.string().optional() }), result: z.null() },
  wanted: { params: z.object({ ms: z.number() }), result: z.boolean() },
  broken: { params: z.object({}), result: z.object({ count: z.number() }) },
  blob: { params: z.object({ bytes: z.number() }), result: z.instanceof(Uint8Array) },
});

/** Handlers with every behaviour the tests need. @param seen whether the calls of `wanted` were wanted at their end */
export function sampleHandlers(seen: boolean[] = []): Handlers<typeof sampleContract> {
  return {
    ...commonHandlers('svc-db', {
      stats: () => ({ tables: { agents: 3 } }),
      sections: new Map([['wdb', () => ({ backup: [] })]]),
      reload: () => Promise.resolve(['wdb']),
    }),
    add: ({ a, b }) => a + b,
    echo: (params) => params,
    wait: ({ ms }) => new Promise((resolve) => setTimeout(() => resolve('done'), ms)),
    wanted: async ({ ms }, call) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      seen.push(call?.isWanted() === true);
      return seen.at(-1) === true;
    },
    fail: ({ code }) => {
      throw code === undefined ? new Error('secret detail') : new BusError(code, 'as asked');
    },
    broken: () => ({ count: 'many' }) as unknown as { count: number },
    blob: ({ bytes }) => Buffer.alloc(bytes),
  };
}
