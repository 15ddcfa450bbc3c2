import { lstatSync } from 'node:fs';
import { connect } from 'node:net';
import { isBelieved } from '../files/read-run-file.js';
import type { Home } from '../home/home.js';
import {
  controlReply,
  type ControlRequest,
  controlSocket,
  ownerSocket,
  type ProgressEvent,
  type SupervisorReport,
} from './control-protocol.js';
import { readLines } from './line-reader.js';
import { ConfigurationRefusedError } from './replace-configuration.js';

/** Thrown when no supervisor answers on the control socket. */
export class NoSupervisorError extends Error {
  override readonly name = 'NoSupervisorError';
  readonly code = 'no_supervisor';
}

/** What a call may take at most; a stop alone may wait 30 s for a daemon and then kill it. */
const DEADLINE_MS = 180_000;

/**
 * Gives one command to the supervisor of a home and waits until it is carried out: on the socket of the owner, else on that
 * of the group.
 * @param progress told what happens on the way
 * @throws NoSupervisorError when there is none, ConfigurationRefusedError, Error with the supervisor's message when it refuses
 */
export async function callSupervisor(
  home: Home,
  request: ControlRequest,
  progress: (event: ProgressEvent) => void = () => {},
  deadlineMs = DEADLINE_MS,
): Promise<SupervisorReport | undefined> {
  try {
    return await callOn(ownerSocket(home), request, progress, deadlineMs);
  } catch (error) {
    if (!(error instanceof NobodyThereError)) throw error;
  }
  const path = controlSocket(home);
  // Where root finds no supervisor, the service user may have put a socket of its own in the place.
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && !isBelieved(path, stats.uid)) throw new NoSupervisorError('the supervisor does not run');
  try {
    return await callOn(path, request, progress, deadlineMs);
  } catch (error) {
    if (!(error instanceof NobodyThereError) || !error.refused) throw error;
    throw new Error('this user may not control the supervisor of this home', { cause: error });
  }
}

/** There is no socket, nobody listens on it, or it is not for this user (`refused`). */
class NobodyThereError extends NoSupervisorError {
  readonly refused: boolean;

  constructor(cause: NodeJS.ErrnoException) {
    super('the supervisor does not run', { cause });
    this.refused = cause.code === 'EACCES';
  }
}

function callOn(
  path: string,
  request: ControlRequest,
  progress: (event: ProgressEvent) => void,
  deadlineMs: number,
): Promise<SupervisorReport | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    let connected = false;
    let settled = false;
    const settle = (action: () => void) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      socket.destroy();
      action();
    };
    const timer = setTimeout(
      () => settle(() => reject(new Error(`the supervisor did not answer within ${deadlineMs / 1000} s`))),
      deadlineMs,
    );
    socket.on('connect', () => {
      connected = true;
      socket.write(`${JSON.stringify(request)}\n`);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A command that was sent may have been taken: it is not given a second time.
      settle(() =>
        reject(
          connected
            ? new NoSupervisorError('the supervisor does not run', { cause: error })
            : new NobodyThereError(error),
        ),
      );
    });
    socket.on('close', () => settle(() => reject(new NoSupervisorError('the supervisor went away'))));
    readLines(
      socket,
      (line) => {
        const reply = controlReply.safeParse(parseJson(line));
        if (!reply.success) {
          settle(() => reject(new Error('the supervisor answered something this version does not know')));
        } else if (reply.data.kind === 'event') {
          progress(reply.data.event);
        } else if (reply.data.kind === 'done') {
          const { report } = reply.data;
          settle(() => resolve(report));
        } else {
          const { message, code } = reply.data;
          settle(() => reject(code === undefined ? new Error(message) : new ConfigurationRefusedError(code, message)));
        }
      },
      () => settle(() => reject(new Error('the supervisor answered too long a line'))),
    );
  });
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
