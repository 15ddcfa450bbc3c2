import { Command, InvalidArgumentError } from 'commander';
import { waitUntil } from '../../lib/async/wait-until.js';
import { BusError } from '../../lib/bus/bus-error.js';
import { MAX_EVENT_BYTES } from '../../lib/bus/bus-limits.js';
import { EventProducer } from '../../lib/bus/event-producer.js';
import { probeSocket } from '../../lib/bus/probe-socket.js';
import { QUEUE_IDS } from '../../lib/events/queue-ids.js';
import type { Home } from '../../lib/home/home.js';
import { readHomeRecord } from '../../lib/home/home-record.js';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { describeError } from '../../lib/log/describe-error.js';
import { LimitedLog } from '../../lib/log/limited-log.js';
import type { Logger } from '../../lib/log/logger.js';
import { usageErrors } from '../../lib/product/usage-errors.js';
import { versionText } from '../../lib/product/version.js';
import { homeRuns, whyUnavailable } from '../terminal/why-unavailable.js';
import { splitLines } from './split-lines.js';

/** Queue of plain logs (decoding.md 3.1). */
const DEFAULT_TIMEOUT_SECONDS = 60;
/** A sink that is started again is back by then, milliseconds; one that was stopped is not waited for any longer. */
const SINK_WAIT_MS = 5000;
const PROBE_MS = 1000;

export type SendStreams = {
  readonly input: AsyncIterable<Buffer>;
  readonly writeError: (text: string) => void;
};

type SendOptions = { readonly home?: string; readonly queue: string; readonly timeout: number };

/**
 * `svc-send LOCATION`: every line of standard input becomes an event. It ends when all are acknowledged.
 * @param args without node and script
 * @returns exit code: 0 when every line was acknowledged, 1 otherwise
 */
export async function sendCommand(args: readonly string[], streams: SendStreams): Promise<number> {
  const command = new Command('svc-send')
    .configureOutput(usageErrors('svc-send'))
    .description('Sends each line of standard input as an event and waits until all are acknowledged.')
    .version(versionText('svc-send'), '-V, --version', 'show version and licence')
    .helpOption('-h, --help', 'show this help')
    .argument('<location>', 'where the lines come from, for example a script name or a path')
    .option('--home <dir>', 'home of the manager')
    .option('--queue <id>', 'queue id of the envelope, one character', oneCharacter, QUEUE_IDS.log)
    .option('--timeout <seconds>', 'give up when nothing is acknowledged for so long', seconds, DEFAULT_TIMEOUT_SECONDS)
    .exitOverride();
  try {
    command.parse([...args], { from: 'user' });
  } catch (error) {
    const code = error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : 1;
    return code === 0 ? 0 : 1;
  }
  const options = command.opts<SendOptions>();
  return send(command.args[0] ?? '', options, streams);
}

async function send(location: string, options: SendOptions, { input, writeError }: SendStreams): Promise<number> {
  const say = (text: string): void => {
    writeError(`svc-send: ${text}\n`);
  };
  const silent = (): void => {};
  const logger: Logger = {
    debug: silent,
    info: silent,
    warn: say,
    error: say,
    critical: say,
    limited: (now) => new LimitedLog((level, message) => logger[level](message), now),
  };
  const home = resolveHome(options.home);
  const absence = await sinkAbsence(home, Math.min(SINK_WAIT_MS, options.timeout * 1000));
  if (absence !== undefined) {
    say(`${absence}. Nothing was sent.`);
    return 1;
  }
  const producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-send', logger });
  producer.start();
  const bytes = Buffer.from(location, 'utf8').toString('latin1');
  let sent = 0;
  let tooLong = 0;
  try {
    for await (const line of splitLines(input, MAX_EVENT_BYTES)) {
      if (line.tooLong) tooLong += 1;
      if (line.bytes.length === 0) continue;
      const event = { queue: options.queue, location: bytes, message: line.bytes, receivedAt: Date.now() };
      while (!producer.trySend(event)) await waitFor(() => producer.room > 0, options.timeout);
      sent += 1;
    }
    while (producer.counters.acknowledged < sent) {
      const before = producer.counters.acknowledged;
      await waitFor(() => producer.counters.acknowledged > before, options.timeout);
    }
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    const lost = sent - producer.counters.acknowledged;
    say(`${error.message}; ${String(lost)} of ${String(sent)} events were not acknowledged.`);
    await producer.close(0);
    return 1;
  }
  await producer.close();
  if (tooLong > 0) {
    say(`${String(tooLong)} lines were longer than ${String(MAX_EVENT_BYTES)} bytes and were not sent.`);
    return 1;
  }
  return 0;
}

const POLL_MS = 5;

/** Why nobody takes events, at once when the home does not run; undefined when somebody does. */
async function sinkAbsence(home: Home, waitMs: number): Promise<string | undefined> {
  let sink: 'svc-agentd' | 'svc-analysisd';
  try {
    sink = readHomeRecord(home).role === 'agent' ? 'svc-agentd' : 'svc-analysisd';
  } catch (error) {
    return describeError(error);
  }
  let reason = '';
  const decided = async (): Promise<'listens' | 'down' | undefined> => {
    const probe = await probeSocket(home.eventsSocket(), PROBE_MS);
    if (probe.listening) return 'listens';
    reason = probe.reason;
    return homeRuns(home) ? undefined : 'down';
  };
  const found = await waitUntil(decided, { everyMs: POLL_MS, mostMs: waitMs });
  return found === 'listens' ? undefined : whyUnavailable(home, sink, reason);
}

/**
 * Waits for a condition; acknowledgements come in batches, so looking often costs little.
 * @throws BusError `timeout`
 */
async function waitFor(condition: () => boolean, timeoutSeconds: number): Promise<void> {
  if ((await waitUntil(condition, { everyMs: POLL_MS, mostMs: timeoutSeconds * 1000 })) === undefined) {
    throw new BusError('timeout', `nothing was acknowledged for ${String(timeoutSeconds)} s`);
  }
}

function oneCharacter(text: string): string {
  if (!/^[\x21-\x7e]$/.test(text)) throw new InvalidArgumentError('one visible ASCII character is needed');
  return text;
}

function seconds(text: string): number {
  const value = Number(text);
  if (!/^\d{1,6}$/.test(text) || value < 1) throw new InvalidArgumentError('a number of seconds is needed');
  return value;
}
