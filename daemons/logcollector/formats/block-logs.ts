import { JoinedLines } from './joined-lines.js';

const MAX_LINES = 64;
const TIMEOUT_MS = 1000;

/** `snort-full`: a block from `[**] [` to an empty line is one event, its lines joined by a blank. */
export function snortFull(refused: (line: Buffer) => void): JoinedLines {
  return new JoinedLines({
    place: (line, held) => {
      if (line.subarray(0, 6).toString('latin1') === '[**] [') {
        return 'begins';
      }
      return line.length > 0 && held.length > 0 ? 'continues' : 'alone';
    },
    separator: ' ',
    refused,
    timeoutMs: TIMEOUT_MS,
    maxLines: MAX_LINES,
  });
}

/**
 * `ossecalert`: a block of another manager's alerts.log becomes one line (daemons-and-config.md 6.2):
 * `ossec: Alert Level: <l>; Rule: <id> - <text>; Location: <location>;[ srcip: <x>;][ user: <y>;]  <log>`.
 */
export function ossecAlert(refused: (bytes: Buffer) => void): JoinedLines {
  return new JoinedLines({
    place: (line, held) => {
      if (line.subarray(0, 9).toString('latin1') === '** Alert ') {
        return 'begins';
      }
      return line.length > 0 && held.length > 0 ? 'continues' : 'alone';
    },
    separator: '\n',
    refused,
    transform: (block) => {
      const text = alertLine(block.toString('latin1').split('\n'));
      return text === undefined ? undefined : Buffer.from(text, 'latin1');
    },
    timeoutMs: TIMEOUT_MS,
    maxLines: MAX_LINES,
  });
}

function alertLine([, place = '', ...lines]: readonly string[]): string | undefined {
  const location = /^\d{4} \w{3} \d\d \d\d:\d\d:\d\d (.*)$/.exec(place)?.[1];
  const rule = lines.findIndex((line) => line.startsWith('Rule: '));
  const head = /^Rule: (\d+) \(level (\d+)\) -> '(.*)'$/.exec(lines[rule] ?? '');
  if (location === undefined || head === null) {
    return undefined;
  }
  let fields = '';
  let at = rule + 1;
  for (; at < lines.length; at += 1) {
    const field = /^(Src IP|User): (.*)$/.exec(lines[at] ?? '');
    if (field === null && !/^(?:Src Port|Dst IP|Dst Port|Src Location|Dst Location): /.test(lines[at] ?? '')) {
      break;
    }
    if (field !== null) {
      fields += ` ${field[1] === 'User' ? 'user' : 'srcip'}: ${field[2] ?? ''};`;
    }
  }
  const [, id = '', level = '', description = ''] = head;
  return `ossec: Alert Level: ${level}; Rule: ${id} - ${description}; Location: ${location};${fields}  ${lines.slice(at).join(' ')}`;
}
