import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { ResponseFeed } from '../../../../../daemons/execd/feed/response-feed.js';
import { ResponseError } from '../../../../../daemons/execd/response-error.js';
import { ResponseStore } from '../../../../../daemons/execd/response-store.js';
import { BusError } from '../../../../../lib/bus/bus-error.js';
import type { Change } from '../../../../../lib/store/commit-queue.js';
import { eventually } from '../../../../support/eventually.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

const NOW = Date.UTC(2026, 0, 10, 12);
const FILE = '2026/Jan/ossec-responses-10.json';

describe('the feed of responses', () => {
  let directory: string;
  let store: ResponseStore;
  let logger: RecordingLogger;
  let feed: ResponseFeed;
  /** The stream, with what was taken over of it: commands run here, and orders for agents. */
  let lines: string[];
  let here: string[];
  let orders: string[];
  let down: BusError | undefined;
  let refusal: ResponseError | undefined;

  /** As svc-analysisd, pages of two. */
  const read = async (_method: string, { after }: { after: { offset: number } | 'end' }) => {
    await delay(1);
    if (down !== undefined) throw down;
    const ends = lines.reduce<number[]>((all, line) => [...all, (all.at(-1) ?? 0) + Buffer.byteLength(line) + 1], []);
    const offset = after === 'end' ? (ends.at(-1) ?? 0) : after.offset;
    const first = offset === 0 ? 0 : ends.indexOf(offset) + 1;
    expect(first === 0 && offset !== 0, 'a position within a line').to.equal(false);
    const responses = lines.slice(first, first + 2);
    return { responses, next: { file: FILE, offset: ends[first + responses.length - 1] ?? 0 } };
  };
  const accept = async (message: string, beside: readonly Change[]) => {
    if (refusal !== undefined) throw refusal;
    await store.commit(beside);
    here.push((JSON.parse(message) as { command: string }).command);
  };
  const add = async (
    order: { command: string; expires: number },
    to: { agents: string[] },
    beside: readonly Change[],
  ) => {
    await store.commit(beside);
    orders.push(`${order.command} ${to.agents.join()} ${String(order.expires - NOW)}`);
  };
  const begin = () => {
    feed = new ResponseFeed({
      store: store.feed,
      analysisd: { call: read as never },
      accept,
      deliveries: { add },
      node: () => 'node01',
      logger,
      now: () => NOW,
    });
    feed.start((error) => {
      logger.critical(String(error));
    });
  };
  const line = (response: string, more: object = {}, age = 0): string =>
    JSON.stringify({
      response,
      timeout: 0,
      locations: ['server'],
      agents: [],
      extra_args: [],
      alert: { timestamp: new Date(NOW - age).toISOString().replace('Z', '+0000'), note: 'zoë' },
      ...more,
    });
  const taken = (count: number) => eventually('so many are taken', () => here.length + orders.length >= count);

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'feed-'));
    store = await ResponseStore.open(directory);
    logger = new RecordingLogger();
    [lines, here, orders] = [[], [], []];
    down = undefined;
    refusal = undefined;
  });
  afterEach(async () => {
    await feed.stop();
    await store.close();
    rmSync(directory, { recursive: true });
    expect(logger.lines.filter((each) => each.startsWith('critical'))).to.deep.equal([]);
  });

  it('takes over each decision once, in order, whenever it is ended', async () => {
    const names = Array.from({ length: 30 }, (_, n) => `r${String(n)}`);
    lines = names.map((name) => line(name));
    for (let ends = 1; here.length < names.length; ends += 3) {
      begin();
      await taken(Math.min(ends, names.length));
      await feed.stop();
    }
    begin();
    lines.push(line('last'));
    await taken(31);
    expect(here).to.deep.equal([...names, 'last']);
    expect(feed.counts.here).to.equal(1);
  });

  it('runs what is for the server here and leaves the others to their delivery, with the time they are of use', async () => {
    lines = [
      line('lock0'),
      line('lock600', { locations: ['local'], agents: ['007'], timeout: 600 }, 100_000),
      line('lock7200', { locations: ['all'], timeout: 7200 }),
      line('once0', { locations: ['defined-agent'], agents: ['001', '002'] }, 7_200_000),
    ];
    begin();
    await taken(4);
    expect(here).to.deep.equal(['lock0']);
    expect(orders).to.deep.equal(['lock600 007 500000', 'lock7200  3600000', 'once0 001,002 3600000']);
  });

  it('passes over what is refused, cannot be read, or would be undone by now, and says so', async () => {
    lines = ['{"response":', line('late60', { timeout: 60 }, 60_001), line('old0', {}, 86_400_000)];
    begin();
    await taken(1);
    expect(here).to.deep.equal(['old0']);
    await feed.stop();
    refusal = new ResponseError('unknown_command', '(1311)');
    lines.push(line('gone0'));
    begin();
    await eventually('it is refused', () => feed.counts.refused === 1);
    refusal = undefined;
    lines.push(line('next0'));
    await taken(2);
    expect(here).to.deep.equal(['old0', 'next0']);
    expect(logger.lines[0]).to.match(/^error: A decision about an active response cannot be read: /);
    expect(logger.lines[1]).to.equal("warn: Active response 'late60' comes too late: its 60 s are over.");
  });

  it('waits while too much runs', async () => {
    refusal = new ResponseError('too_many', 'Too many active responses wait already');
    lines = [line('first0'), line('second0')];
    begin();
    await eventually('it waits', () => logger.lines.length === 1);
    expect(feed.position.offset).to.equal(0);
    refusal = undefined;
    await taken(2);
    expect(here).to.deep.equal(['first0', 'second0']);
  });

  it('waits for svc-analysisd, and for a stream that is shorter than it was, and says each once', async () => {
    down = new BusError('unavailable', 'svc-analysisd is not available');
    begin();
    await eventually('it is said', () => logger.lines.length === 1);
    lines = [line('lock0')];
    down = undefined;
    await taken(1);
    expect(logger.lines).to.deep.equal([
      'warn: Decisions about active responses are not read: svc-analysisd is not available',
      'info: Decisions about active responses are read again.',
    ]);
    const { position } = feed;
    down = new BusError('bad_position', `'${FILE}' has only 3 bytes`);
    await eventually('it is said', () => logger.lines.length === 3);
    down = undefined;
    lines.push(line('lock1'));
    await taken(2);
    expect(position.offset).to.equal(Buffer.byteLength(lines[0] ?? '') + 1);
    expect(here).to.deep.equal(['lock0', 'lock1']);
    expect(logger.lines).to.have.length(3);
  });
});
