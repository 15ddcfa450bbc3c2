import { readFileSync } from 'node:fs';
import { decodeKeyText } from '../../../lib/agents/key-text.js';
import { MinimalAgent } from '../agentlink/minimal-agent.js';
import { PolicyScan } from '../db/sca-kit.js';
import { eventually } from '../eventually.js';
import { delta, packageRow } from '../inventory/inventory-messages.js';
import { fileAttributes } from '../syscheckd/fim-kit.js';
import type { ConsoleHome } from './console-home.js';

const WAIT_MS = 30_000;
const ANSWERS: Readonly<Record<string, string>> = {
  'agent getconfig client': 'ok {"client":{"notify_time":10,"crypto_method":"aes"}}',
  'agent getconfig labels': 'ok {"labels":[]}',
  'agent getstate': '{"error":0,"data":{"status":"connected","msg_count":34,"msg_sent":35}}',
  'logcollector getstate':
    '{"error":0,"remaining":false,"json_updated":false,"data":{"global":{"start":"2026-11-21 00:42:57","end":"2026-11-21 00:43:57","files":[{"location":"/var/log/auth.log","events":7,"bytes":512,"targets":[{"name":"agent","drops":0}]}]}}}',
};

/** The id and key of an agent that is added over the API. */
export async function addAgent(home: ConsoleHome, name: string): Promise<{ id: string; key: string }> {
  const answer = await home.call('POST', '/agents', JSON.stringify({ name }));
  return (answer.json() as { data: { id: string; key: string } }).data;
}

/** Port of a listener of a daemon of a home. */
export function portOf(home: ConsoleHome, daemon: string, listener: string): number {
  const record = JSON.parse(readFileSync(home.home.path('var', 'run', `${daemon}.json`), 'utf8')) as {
    addresses: Record<string, { port?: number }>;
  };
  const port = record.addresses[listener]?.port;
  if (port === undefined) throw new Error(`${daemon} has no listener '${listener}'`);
  return port;
}

/** Connects an agent that was added, answers what it is asked, and waits until it is shown as active, and up to date. */
export async function connectAgent(home: ConsoleHome, { id, key }: { id: string; key: string }): Promise<MinimalAgent> {
  const identity = decodeKeyText(key);
  if (identity === undefined) throw new Error('no key');
  const agent = new MinimalAgent(identity);
  agent.onRequest = (target, payload) => ANSWERS[`${target} ${payload}`] ?? 'err Could not get requested section';
  await agent.startWhenKnown(portOf(home, 'svc-remoted', 'agents_tcp'));
  await eventually(
    `${id} is active, with the files of its groups`,
    async () => {
      // The first one has them sent, a later one tells that they have come.
      agent.keepalive();
      return (await totalOf(home, `/agents?agents_list=${id}&status=active&group_config_status=synced`)) === 1;
    },
    WAIT_MS,
  );
  return agent;
}

/** A file that changed, packages, and results of a policy, told as agents do; waits until all of it is stored. */
export async function tellOfHost(home: ConsoleHome, id: string, agent: MinimalAgent): Promise<void> {
  const before = fileAttributes({ content: 'hello world\n', mtime: 1_700_000_000, inode: 131_075 });
  const after = fileAttributes({ content: 'hello world!\n', mtime: 1_700_000_500, inode: 131_075 });
  const about = { path: '/etc/demo', version: 2, mode: 'realtime' };
  const event = (data: object) => agent.event('syscheck', JSON.stringify({ type: 'event', data }), '8');
  event({ ...about, type: 'added', timestamp: 1_700_000_100, attributes: before });
  event({
    ...about,
    type: 'modified',
    timestamp: 1_700_000_600,
    attributes: after,
    old_attributes: before,
    changed_attributes: ['size', 'mtime', 'md5', 'sha1', 'sha256'],
    content_changes: '1c1\n< hello world\n---\n> hello world!\n',
  });
  for (const name of ['openssl', 'zsh']) {
    agent.event('syscollector', delta('packages', 'INSERTED', packageRow(name)), 'd');
  }
  const scan = new PolicyScan('cis_debian12', 1, { 1: 'passed', 2: 'failed', 3: 'not applicable' });
  for (const message of [...scan.checks(), scan.summary()]) agent.event('sca', message, 'p');
  await eventually(
    'the file is stored',
    async () => (await totalOf(home, `/syscheck/${id}?q=changes=2`)) === 1,
    WAIT_MS,
  );
  await eventually(
    'packages are stored',
    async () => (await totalOf(home, `/syscollector/${id}/packages`)) === 2,
    WAIT_MS,
  );
  await eventually(
    'checks are stored',
    async () => (await totalOf(home, `/sca/${id}/checks/cis_debian12`)) === 3,
    WAIT_MS,
  );
  await eventually(
    'the alerts are found',
    async () => (await totalOf(home, `/alerts?q=syscheck.path=/etc/demo`)) === 2,
    WAIT_MS,
  );
}

/** How many items of a list there are. */
async function totalOf(home: ConsoleHome, path: string): Promise<number> {
  const answer = (await home.call('GET', path)).json() as { data: { total_affected_items: number } };
  return answer.data.total_affected_items;
}
