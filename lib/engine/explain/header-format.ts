import {
  isApache,
  isAppleLog,
  isBsdSyslog,
  isSnort,
  isSquid,
  isSuricata,
  isXferlog,
  otherSyslogHeader,
  testedText,
} from '../predecode/predecode.js';

/** Names of the header formats (decoding.md 3.3); `none`: the whole message is the log. */
export type HeaderFormat =
  | 'syslog'
  | 'syslog with comma milliseconds'
  | 'syslog with ISO 8601 date'
  | 'syslog with year first'
  | 'syslog with microseconds'
  | 'xferlog'
  | 'snort'
  | 'suricata'
  | 'apache'
  | 'macOS ASL'
  | 'squid'
  | 'none';

const OTHERS: readonly (readonly [HeaderFormat, (text: string, length: number) => boolean])[] = [
  ['xferlog', isXferlog],
  ['snort', isSnort],
  ['suricata', isSuricata],
  ['apache', isApache],
  ['macOS ASL', isAppleLog],
  ['squid', isSquid],
];

/** Which format pre-decoding takes a message for; the tests and their order are those of `predecode`. */
export function headerFormat(message: string): HeaderFormat {
  const text = testedText(message);
  const { length } = text;
  if (length < 17) return 'none';
  if (isBsdSyslog(text)) return 'syslog';
  if (length < 21) return 'none';
  if (otherSyslogHeader(text, length) > 0) return otherSyslogFormat(text);
  if (length < 24) return 'none';
  return OTHERS.find(([, fits]) => fits(text, length))?.[0] ?? 'none';
}

/** Which of the formats S2 to S5 a text that is one of them has. */
function otherSyslogFormat(text: string): HeaderFormat {
  if (text.charAt(4) !== '-') return 'syslog with year first';
  if (text.charAt(10) === 'T') return 'syslog with ISO 8601 date';
  return text.charAt(19) === ',' ? 'syslog with comma milliseconds' : 'syslog with microseconds';
}
