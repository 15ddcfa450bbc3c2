/**
 * Prints how many messages of the agents' channel one core opens and seals in a second, by form and size of the payload,
 * counted in CPU time: `npm run bench -- agentlink [seconds]`.
 */
import { randomBytes } from 'node:crypto';
import { readMessageHead } from '../../daemons/remoted/link/message-prefix.js';
import { AgentKey } from '../../lib/agentlink/agent-key.js';
import { BlowfishCache } from '../../lib/agentlink/blowfish-cache.js';
import { FrameDecoder } from '../../lib/agentlink/frame-decoder.js';
import type { MessageForm } from '../../lib/agentlink/message-form.js';
import { MessageOpener } from '../../lib/agentlink/message-opener.js';
import { MessageSealer } from '../../lib/agentlink/message-sealer.js';
import { AgentAddress } from '../../lib/network/agent-address.js';

const AGENTS = 200;
const SIZES = [200, 1000];
const FORMS: readonly MessageForm[] = ['aes', 'aes-iv', 'blowfish'];
const seconds = Number(process.argv[2] ?? 1);
const schedules = new BlowfishCache();
const opener = new MessageOpener(schedules);
const sealer = new MessageSealer(schedules);
const keys = Array.from(
  { length: AGENTS },
  (_, index) =>
    new AgentKey(String(index + 1).padStart(3, '0'), `web${index}`, AgentAddress.any, randomBytes(32).toString('hex')),
);

/** A line of a log, with parts that do not repeat. */
function payloadOf(size: number): Buffer {
  let text =
    '1:/var/log/auth.log:Dec 25 20:45:02 web01 sshd[1234]: Failed password for root from 192.0.2.10 port 4321 ssh2';
  while (text.length < size) text += ` user=alice token=${randomBytes(9).toString('base64')} action=login`;
  return Buffer.from(text.slice(0, size));
}

function show(label: string, work: (turn: number) => void): void {
  for (let turn = 0; turn < 2000; turn += 1) work(turn);
  const start = process.cpuUsage();
  let turns = 0;
  let spent = 0;
  while (spent < seconds * 1e6) {
    for (let turn = 0; turn < 500; turn += 1) work(turn);
    turns += 500;
    const { user, system } = process.cpuUsage(start);
    spent = user + system;
  }
  const rate = Math.round((turns * 1e6) / spent).toLocaleString('en-US');
  console.log(`${rate.padStart(10)} /s  ${(spent / turns).toFixed(1).padStart(6)} us  ${label}`);
}

for (const size of SIZES) {
  const payload = payloadOf(size);
  for (const form of FORMS) {
    const options = { form, counters: { global: 1, local: 2 }, framed: true };
    const frames = keys.map((key) => sealer.seal(key, payload, { ...options, prefixId: key.id }));
    const decoder = new FrameDecoder();
    show(`open ${form}, ${size} bytes (${frames[0]?.length ?? 0} on the wire)`, (turn) => {
      const index = turn % AGENTS;
      const key = keys[index];
      const frame = frames[index];
      if (key === undefined || frame === undefined) return;
      decoder.push(frame);
      const head = readMessageHead(decoder.next() ?? frame);
      if (head.kind !== 'prefixed' || !opener.open(key, head.body, form).ok) throw new Error('not opened');
    });
    show(`seal ${form}, ${size} bytes`, (turn) => {
      const key = keys[turn % AGENTS];
      if (key !== undefined) sealer.seal(key, payload, options);
    });
  }
}
