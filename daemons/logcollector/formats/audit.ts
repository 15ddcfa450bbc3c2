import { JoinedLines } from './joined-lines.js';

/** Lines of one audit event that are joined (daemons-and-config.md 6.2). */
const MAX_LINES = 64;
const TIMEOUT_MS = 1000;

/** The format `audit`: lines with the same `msg=audit(<id>)` are one event, joined by a blank. Other lines are refused. */
export function auditLines(refused: (line: Buffer) => void): JoinedLines {
  let current = '';
  return new JoinedLines({
    place: (line, held) => {
      const id = auditId(line);
      if (id === undefined) {
        return 'alone';
      }
      const same = held.length > 0 && id === current;
      current = id;
      return same ? 'continues' : 'begins';
    },
    separator: ' ',
    refused,
    timeoutMs: TIMEOUT_MS,
    maxLines: MAX_LINES,
  });
}

function auditId(line: Buffer): string | undefined {
  return /^(?:node=\S+ )?type=\S+ msg=audit\(([^)]+)\)/.exec(line.subarray(0, 512).toString('latin1'))?.[1];
}
