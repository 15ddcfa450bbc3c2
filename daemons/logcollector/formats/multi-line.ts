import type { MultilineRegex } from '../../../lib/config/sections/localfile.js';
import { MatchContext, type Matcher } from '../../../lib/patterns/matcher.js';
import { JoinedLines } from './joined-lines.js';

/** Lines of one event; a pattern that never matches must not hold lines back for ever. */
const MAX_LINES = 1000;
/** Lines of a `multi-line: N` block that does not fill up are sent after this time. */
const FIXED_TIMEOUT_MS = 5000;
const STEPS = 1_000_000;

const SEPARATORS = { 'no-replace': '\n', none: '', wspace: ' ', tab: '\t' } as const;

/** `multi-line: N`: N lines are one event, joined by a blank. */
export function fixedLines(count: number): JoinedLines {
  return new JoinedLines({
    place: (_line, held) => (held.length + 1 >= count ? 'ends' : 'continues'),
    separator: ' ',
    timeoutMs: FIXED_TIMEOUT_MS,
    maxLines: count,
  });
}

/**
 * `multi-line-regex`: `start` = a matching line begins an event, `end` = it closes one, `all` = the lines together must
 * match (daemons-and-config.md 6.2).
 */
export function regexLines(options: MultilineRegex, matcher: Matcher): JoinedLines {
  const context = new MatchContext();
  const matches = (bytes: Buffer): boolean => {
    context.stepsLeft = STEPS;
    return matcher.test(bytes.toString('latin1'), context);
  };
  return new JoinedLines({
    place: (line, held) => {
      switch (options.match) {
        case 'start':
          return held.length === 0 || matches(line) ? 'begins' : 'continues';
        case 'end':
          return matches(line) ? 'ends' : 'continues';
        case 'all':
          return matches(Buffer.concat([...held.flatMap((each) => [each, NEWLINE]), line])) ? 'ends' : 'continues';
      }
    },
    separator: SEPARATORS[options.replace],
    timeoutMs: options.timeout * 1000,
    maxLines: MAX_LINES,
  });
}

const NEWLINE = Buffer.from('\n');
