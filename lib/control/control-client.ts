import { connect } from 'node:net';
import type { Home } from '../daemon/home.js';
import type { ControlRequest, ProgressEvent, SupervisorReport } from './control-protocol.js';
import { controlReply, controlSocket } from './control-protocol.js';
import { readLines } from './line-reader.js';

/** Thrown when no supervisor answers on the control socket. */
export class NoSupervisorError extends Error {
  readonly code = 'no_supervisor';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NoSupervisorError';
  }
}

/** What a call may take at most; a stop alone may wait 30 s for a daemon and then kill it. */
const DEADLINE_MS = 180_000;

/**
 * Gives one command to the supervisor of a home and waits until it is carried out.
 * @param progress told what happens on the way
 * @throws NoSupervisorError when there is none, Error with the supervisor's message when it refuses
 */
export function callSupervisor(
  home: Home,
  request: ControlRequest,
  progress: (event: ProgressEvent) => void = () => {},
  deadlineMs = DEADLINE_MS,
): Promise<SupervisorReport | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(controlSocket(home));
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
    socket.on('connect', () => socket.write(JSON.stringify(request) + '\n'));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      settle(() =>
        reject(
          error.code === 'EACCES'
            ? new Error('this user may not control the supervisor of this home')
            : new NoSupervisorError('the supervisor does not run', { cause: error }),
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
          const { message } = reply.data;
          settle(() => reject(new Error(message)));
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
