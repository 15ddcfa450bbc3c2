import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { CDPSession, Page } from 'playwright-core';
import { RunFiles } from '../../lib/daemon/run-files.js';
import { readRunRecord } from '../../lib/daemon/run-record.js';
import { startChromium } from '../support/console/chromium.js';
import { ConsolePage } from '../support/console/console-page.js';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { DbServer } from '../support/db/db-server.js';
import { calibrate, quantile } from '../support/process/measuring.js';
import { TemporaryHome } from '../support/temporary-home.js';

/*
 * Figures of the list of agents as somebody sees it: `npm run bench -- console-agents [AGENTS] [GROUPS]`, 100,000 agents and 1,000
 * groups by default. The console in a real browser, the real svc-apid over HTTPS; svc-db's tables are in this process. From a
 * click or the last key to the rows on the screen, in the clock of the page, and how much of that was waiting for the answer; CPU
 * of the page's own thread, and tasks of over 50 ms (by the clock) that kept it from answering; the heap of its scripts after a collection, and
 * the nodes of its document.
 */
const [agents = 100_000, groups = 1000] = process.argv.slice(2).map(Number);
const ROUNDS = 14;
/** What the field of a search waits for after the last key: nobody's work, but who searches waits for it. */
const PAUSE_MS = 350;

/** Runs in the page: keeps when somebody did something last, and how long the page was busy at a time. */
const WATCH = `(() => {
  const watch = (globalThis.watch = { from: 0, long: [] });
  for (const type of ['click', 'input', 'change']) {
    addEventListener(type, () => { watch.from = performance.now(); }, true);
  }
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) watch.long.push(duration);
  }).observe({ type: 'longtask', buffered: true });
  watch.rows = () => document.querySelector('table tbody')?.textContent ?? '';
  // Resolves with the milliseconds since the last deed when the rows are others and a frame with them was drawn.
  watch.others = () => {
    const before = watch.rows();
    return new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if (watch.rows() === before) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => {
          const answer = performance.getEntriesByType('resource').findLast(({ name }) => name.includes('/agents?'));
          resolve([performance.now() - watch.from, answer?.duration ?? 0]);
        }));
      });
      observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    });
  };
})()`;

type Deed = {
  readonly name: string;
  /** What must be so before, and is not measured. */
  readonly prepare?: (page: Page) => Promise<unknown>;
  readonly act: (page: Page, round: number) => Promise<unknown>;
  /** Milliseconds that are meant to pass. */
  readonly pauseMs?: number;
};

const press = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).click();
const choose = (label: string, value: string) => (page: Page, round: number) =>
  page.getByLabel(label, { exact: true }).selectOption(round % 2 === 0 ? value : '');
const search = (label: string, words: readonly [string, string]) => (page: Page, round: number) =>
  page.getByLabel(label, { exact: true }).fill(words[round % 2] ?? '');

/** What is done in the list, one after the other. */
const DEEDS: readonly Deed[] = [
  {
    name: 'open from another page',
    prepare: async (page) => {
      await page.getByRole('link', { name: 'Enrol an agent' }).click();
      await page.getByRole('heading', { level: 1, name: 'Enrol an agent' }).waitFor();
    },
    act: (page) => page.getByRole('link', { name: 'Agents', exact: true }).click(),
  },
  { name: 'next page', act: press('Next') },
  { name: 'page before', act: press('Previous') },
  { name: 'order by name', act: press('Name') },
  { name: 'order by last keepalive', act: press('Last seen') },
  { name: 'order by system', act: press('System') },
  { name: 'filter by state', act: choose('State', 'disconnected') },
  { name: 'filter by group', act: choose('Group', 'site-7') },
  { name: 'filter by version', act: choose('Version', 'Wazuh v4.9.2') },
  { name: 'query', act: search('Query', ['os.name~deb;id>500', 'id>0']), pauseMs: PAUSE_MS },
  { name: 'search', act: search('Search', ['web-1', 'db-7']), pauseMs: PAUSE_MS },
  { name: 'search for one', act: search('Search', ['77777', '12345']), pauseMs: PAUSE_MS },
];

/** What the browser says of the page. */
async function metricsOf(session: CDPSession): Promise<(name: string) => number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return (wanted) => metrics.find(({ name }) => name === wanted)?.value ?? 0;
}

async function printHeap(session: CDPSession): Promise<void> {
  await session.send('HeapProfiler.collectGarbage');
  const valueOf = await metricsOf(session);
  console.log(`${(valueOf('JSHeapUsedSize') / 2 ** 20).toFixed(1)} MiB of heap, ${valueOf('Nodes')} nodes`);
}

async function measure(page: Page, session: CDPSession, { name, prepare, act, pauseMs = 0 }: Deed): Promise<void> {
  const times: number[] = [];
  const waits: number[] = [];
  await page.evaluate('watch.long.length = 0');
  let cpu = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await prepare?.(page);
    const before = await metricsOf(session);
    const shown = page.evaluate<[number, number]>('watch.others()');
    await act(page, round);
    const [time, wait] = await shown;
    times.push(time - pauseMs);
    waits.push(wait);
    cpu += (await metricsOf(session))('TaskDuration') - before('TaskDuration');
  }
  const long = await page.evaluate<number[]>('watch.long');
  const tasks = long.length === 0 ? '' : `, ${long.length} long tasks up to ${Math.max(...long).toFixed(0)} ms`;
  const busy = `${((cpu / ROUNDS) * 1000).toFixed(0)} ms of CPU`;
  console.log(`${name.padEnd(26)}${quantiles(times)}; waiting ${quantiles(waits)}; ${busy}${tasks}`);
}

function quantiles(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => quantile(sorted, share).toFixed(0).padStart(5);
  return `p50${at(0.5)} ms, most${at(1)} ms`;
}

const { sha256Seconds, regExpSeconds } = calibrate();
console.log(`calibration: sha256 ${sha256Seconds.toFixed(2)} s, RegExp ${regExpSeconds.toFixed(2)} s`);
const home = new TemporaryHome();
mkdirSync(home.path('api', 'configuration', 'security'), { recursive: true });
const settings = 'host: ["127.0.0.1"]\nport: 0\naccess:\n  max_request_per_minute: 0\n';
writeFileSync(home.path('api', 'configuration', 'api.yaml'), settings);
writeFileSync(home.path('etc', 'manager.conf'), '<manager_config></manager_config>\n');
const db = await DbServer.start(home, () => 1_795_000_000_000);
await db.fill(agents);
await db.groups(...Array.from({ length: Math.max(0, groups - db.registry.groups.size) }, (_none, at) => `group-${at}`));
const daemon = await RunningDaemon.start('svc-apid', home);
const browser = await startChromium();
try {
  const port = readRunRecord(new RunFiles(home, 'svc-apid').record())?.addresses['api']?.port;
  const password = readFileSync(home.path('api', 'configuration', 'security', 'initial-admin-password'), 'utf8').trim();
  const seen = await ConsolePage.open(
    browser,
    { url: `https://127.0.0.1:${port}/console`, password },
    { place: '#/agents' },
  );
  const { page } = seen;
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.evaluate(WATCH);
  const first = page.evaluate<[number, number]>('watch.others()');
  await seen.logIn();
  const [time, wait] = await first;
  console.log(`first list ${time.toFixed(0)} ms after the button of the login, waiting ${wait.toFixed(0)} ms`);
  await printHeap(session);
  for (const deed of DEEDS) await measure(page, session, deed);
  await printHeap(session);
  await seen.go(`#/agents?offset=${Math.floor((agents - 1) / 25) * 25}`);
  await page.getByRole('button', { name: 'Next', exact: true }).and(page.locator(':disabled')).waitFor();
  await measure(page, session, {
    name: 'before the last page',
    act: (at, round) => press(round % 2 === 0 ? 'Previous' : 'Next')(at),
  });
  await printHeap(session);
} finally {
  await browser.close();
  await daemon.stop();
  await db.stop();
  home.remove();
}
