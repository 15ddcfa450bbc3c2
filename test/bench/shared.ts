import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { confCheck } from '../../daemons/remoted/merge/conf-check.js';
import { SharedFiles, type SharedFilesParts } from '../../daemons/remoted/merge/shared-files.js';
import { quantile } from '../support/process/measuring.js';
import { processUsage } from '../support/process/process-usage.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { TemporaryHome } from '../support/temporary-home.js';

/*
 * Figures of shared files: `npm run bench -- shared [GROUPS] [FILES]`, 1,000 groups with 20 files of 2 KiB by default.
 * The table of groups is not asked. The event loop's longest hold is what a keepalive would have waited.
 */
const [first = '1000', second = '20'] = process.argv.slice(2);
const groups = Number(first);
const files = Number(second);
const CONF =
  '<agent_config>\n  <localfile>\n    <log_format>syslog</log_format>\n    <location>/var/log/LOG</location>\n  </localfile>\n</agent_config>\n';
const TEXT = `${'x'.repeat(63)}\n`.repeat(32);
/** Default of `remoted.shared_reload`. */
const RELOAD_MS = 10_000;
const IDLE_MS = 30_000;
const CHANGES = 100;
const PROBE_MS = 5;

const line = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
const noTable: SharedFilesParts['db'] = { call: () => Promise.reject(new Error('not asked')) };

/** Longest time in which a timer of 5 ms did not come to its turn. */
class HoldProbe {
  longest = 0;
  #at = performance.now();
  readonly #timer = setInterval(() => {
    const now = performance.now();
    this.longest = Math.max(this.longest, now - this.#at - PROBE_MS);
    this.#at = now;
  }, PROBE_MS);

  end(): string {
    clearInterval(this.#timer);
    return `longest hold of the event loop ${this.longest.toFixed(0)} ms`;
  }
}

async function measured(what: string, work: () => Promise<unknown>): Promise<void> {
  const probe = new HoldProbe();
  const began = performance.now();
  const { cpu } = processUsage(process.pid);
  await work();
  const seconds = (performance.now() - began) / 1000;
  const used = processUsage(process.pid);
  const share = ((used.cpu - cpu) / seconds) * 100;
  line(
    `${what}: ${seconds.toFixed(2)} s, CPU ${(used.cpu - cpu).toFixed(2)} s (${share.toFixed(1)} % of a core), ${used.rss.toFixed(0)} MiB, ${probe.end()}`,
  );
}

const home = new TemporaryHome();
const make = (): SharedFiles =>
  new SharedFiles({
    home,
    logger: new RecordingLogger(),
    db: noTable,
    reloadMs: RELOAD_MS,
    merge: true,
    mergedElsewhere: () => false,
    check: confCheck(),
  });
const pathOf = (group: number, name: string): string => home.path('etc', 'shared', `group-${String(group)}`, name);
let shared = make();
try {
  for (let group = 0; group < groups; group += 1) {
    mkdirSync(home.path('etc', 'shared', `group-${String(group)}`), { recursive: true });
    writeFileSync(pathOf(group, 'agent.conf'), CONF.replace('LOG', String(group)));
    for (let file = 1; file < files; file += 1) writeFileSync(pathOf(group, `file-${String(file)}.txt`), TEXT);
  }
  line(`${String(groups)} groups with ${String(files)} files`);
  await delay(1000);
  const begin = async (): Promise<void> => {
    await shared.start();
    await shared.settled();
  };
  await measured('first scan, no merged files yet', begin);
  await shared.stop();
  shared = make();
  await measured('first scan, merged files are there', begin);
  await measured('watches begin', () => delay(IDLE_MS / 3));
  await measured('idle, a check each 10 s', () => delay(IDLE_MS));

  const times: number[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    const group = change % groups;
    const before = shared.sumOf([`group-${String(group)}`]);
    writeFileSync(pathOf(group, 'agent.conf.tmp'), CONF.replace('LOG', `changed-${String(change)}`));
    const at = performance.now();
    renameSync(pathOf(group, 'agent.conf.tmp'), pathOf(group, 'agent.conf'));
    while (shared.sumOf([`group-${String(group)}`]) === before) await delay(1);
    times.push(performance.now() - at);
  }
  times.sort((a, b) => a - b);
  line(
    `a changed agent.conf until the new sum: p50 ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms, most ${quantile(times, 1).toFixed(0)} ms`,
  );

  const lists = Array.from({ length: groups }, (_none, group) => [`group-${String(group)}`, 'default']);
  await measured(`${String(groups)} multigroups`, async () => {
    shared.setLists(lists);
    await shared.settled();
  });
  await measured('a change in a group that all multigroups have', async () => {
    writeFileSync(home.path('etc', 'shared', 'default', 'new.txt'), TEXT);
    await shared.refresh('default');
  });
  await measured('another ar.conf', async () => {
    writeFileSync(home.path('etc', 'shared', 'ar.conf'), 'restart-wazuh0 - restart-wazuh - 0\n');
    const before = shared.sumOf([`group-${String(groups - 1)}`]);
    while (shared.sumOf([`group-${String(groups - 1)}`]) === before) await delay(5);
    await shared.settled();
  });
} finally {
  await shared.stop();
  home.remove();
}
