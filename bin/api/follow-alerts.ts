import { setTimeout as pause } from 'node:timers/promises';
import { AlertLines } from './alert-lines.js';
import type { ApiCaller, ApiParameters } from './api-caller.js';
import { ApiConnectionError } from './api-client.js';
import type { ApiStreams } from './api-streams.js';
import { EXIT } from './command-kit.js';
import { readEvents } from './event-lines.js';

/** Pause before a stream that broke is opened again, milliseconds. */
const AGAIN_MS = 1000;
/** Tries to open it again before it is given up: a restart of the API takes some seconds. */
const MOST_TRIES = 60;

export type FollowedAlerts = {
  readonly caller: ApiCaller;
  readonly streams: ApiStreams;
  readonly filters: ApiParameters;
  /** A line of JSON each. */
  readonly asJson: boolean;
};

/**
 * Shows alerts as they come, until nobody reads any more. A stream that ends or breaks is opened again behind the last alert.
 * @throws ApiRefusalError, ApiConnectionError, SessionError when that cannot be
 */
export async function followAlerts({ caller, streams, filters, asJson }: FollowedAlerts): Promise<number> {
  const table = new AlertLines(streams.columns);
  if (!asJson) await streams.write(table.heading());
  let lastId: string | undefined;
  let hasBegun = false;
  for (let tries = 0; ; tries += 1) {
    try {
      const request = caller.request('GET', '/alerts/stream', filters);
      const headers = lastId === undefined ? {} : { 'last-event-id': lastId };
      for await (const { event, id, data } of readEvents(await caller.stream(request, headers, streams.gone))) {
        tries = 0;
        hasBegun = true;
        lastId = id ?? lastId;
        if (event === 'alert') await streams.write(asJson ? `${data}\n` : table.line(JSON.parse(data)));
        else if (event !== '') say(event, data, streams);
      }
    } catch (error) {
      if (!hasBegun || !(error instanceof ApiConnectionError) || tries >= MOST_TRIES) throw error;
    }
    if (streams.gone.aborted) return EXIT.fine;
    await pause(AGAIN_MS);
  }
}

/** What is said besides alerts. That the token is over the next try says, unless it has a newer one. */
function say(event: string, data: string, { writeError }: ApiStreams): void {
  const {
    reason,
    detail,
    agents_denied: denied,
  } = JSON.parse(data) as {
    readonly reason?: string;
    readonly detail?: string;
    readonly agents_denied?: readonly string[];
  };
  if (event === 'begin') {
    if (denied !== undefined && denied.length > 0) {
      writeError(`svc-api: alerts of these agents may not be seen: ${denied.join(', ')}\n`);
    }
  } else if (detail !== undefined && reason !== 'unauthorized') {
    writeError(`svc-api: ${detail}\n`);
  }
}
