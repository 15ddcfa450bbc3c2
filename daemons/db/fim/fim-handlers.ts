import { Limiter } from '../../../lib/async/limiter.js';
import type { Handlers } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { fimMethods } from '../../../lib/bus/contracts/db-fim.js';
import { answeringList } from '../query/answering-list.js';
import { takeAll } from '../rows/take-all.js';
import type { FimDatabase } from './fim-database.js';
import { isoTime } from './fim-fields.js';
import { listFim } from './fim-list.js';
import { lastRootcheckScan, listFindings } from './list-findings.js';

type FimHandlers = Pick<Handlers<typeof dbContract>, keyof typeof fimMethods>;

/** Lists that go over an agent's entries at once, and those that may wait: each takes seconds with a million entries. */
const LISTS_AT_ONCE = 2;
const LISTS_WAITING = 16;

/** Answers of svc-db about files of agents (lib/bus/contracts/db-fim.ts). @param now epoch milliseconds */
export function fimHandlers(fim: FimDatabase, now: () => number): FimHandlers {
  const lists = new Limiter({ atOnce: LISTS_AT_ONCE, mostWaiting: LISTS_WAITING });
  return {
    'fim.position': () => fim.position,
    'fim.apply': async (events) => ({ position: await fim.apply(events) }),
    'fim.sync': ({ agent, message }) => fim.sync.take(agent, message),
    'fim.sync_all': ({ agents }) => takeAll(fim.sync, agents),
    'fim.list': (params) => answeringList(() => lists.run(() => listFim(fim.reader, params, now()))),
    'fim.last_scan': ({ agent }) => {
      const { start, end } = fim.reader.tables.scans.get(Number(agent)) ?? { start: 0, end: 0 };
      return { start: isoTime(start), end: start === 0 || end < start ? null : isoTime(end) };
    },
    'fim.clear': async ({ agents }) => {
      await fim.clearFiles(agents);
      return {};
    },
    'rootcheck.list': (params) => answeringList(() => lists.run(() => listFindings(fim.reader, params, now()))),
    'rootcheck.last_scan': ({ agent }) => lastRootcheckScan(fim.reader, agent),
    'rootcheck.clear': async ({ agents }) => {
      await fim.clearFindings(agents);
      return {};
    },
  };
}
