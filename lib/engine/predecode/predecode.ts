import type { EngineEvent } from '../event.js';
import { readSyslogHeader } from './syslog-header.js';

const SPACE = 0x20;
const COMMA = 0x2c;
const DASH = 0x2d;
const DOT = 0x2e;
const SLASH = 0x2f;
const COLON = 0x3a;
const PLUS = 0x2b;

/**
 * Cuts the header off the event's message (decoding.md 3.3): sets `log`, `timestamp`, `programName` and, unless the
 * event came from an agent, `hostname`. Only the fixed byte positions of the formats are looked at.
 *
 *
 * @param managerName the manager's host name up to its first dot, for events without a host of their own
 */
export function predecode(event: EngineEvent, managerName: string): void {
  const message = event.fullLog;
  if (!event.fromAgent) {
    event.hostname = managerName;
  }
  const text = testedText(message);
  const length = text.length;
  if (length < 17) {
    return;
  }
  if (isBsdSyslog(text)) {
    event.timestamp = message.slice(0, 15);
    readSyslogHeader(event, message, 16);
    return;
  }
  if (length < 21) {
    return;
  }
  const header = otherSyslogHeader(text, length);
  if (header > 0) {
    event.timestamp = message.slice(0, header - 1);
    readSyslogHeader(event, message, header);
    return;
  }
  if (length >= 24) {
    readOtherFormat(event, message, text, length);
  }
}

/**
 * The text whose positions are tested. A German "Mär" takes one byte more than the formats know: they are tested as if it
 * were "Mar", but cut the original.
 */
export function testedText(message: string): string {
  return message.charCodeAt(1) === 0xc3 && message.charCodeAt(2) === 0xa4
    ? `${message.charAt(0)}a${message.slice(3)}`
    : message;
}

/** Format S1, for texts of 17 bytes or more. */
export function isBsdSyslog(text: string): boolean {
  return (
    text.charCodeAt(3) === SPACE &&
    text.charCodeAt(6) === SPACE &&
    text.charCodeAt(9) === COLON &&
    text.charCodeAt(12) === COLON &&
    text.charCodeAt(15) === SPACE
  );
}

/** Length of a header of the formats S2 to S5, or 0; for texts of 21 bytes or more. */
export function otherSyslogHeader(text: string, length: number): number {
  const c4 = text.charCodeAt(4);
  if (c4 === DASH) {
    if (text.charCodeAt(7) !== DASH || text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) {
      return 0;
    }
    const c10 = text.charCodeAt(10);
    const c19 = text.charCodeAt(19);
    if (c10 === SPACE && c19 === COMMA) {
      return length >= 24 ? 24 : 0;
    }
    if (length < 33) {
      return 0;
    }
    if (c10 === 0x54) {
      if (text.charCodeAt(22) === COLON && text.charCodeAt(25) === SPACE) {
        return 26;
      }
      if (c19 === DOT) {
        // Neither zone position fits: 32 bytes are taken all the same.
        return text.charCodeAt(26) === COLON ? 30 : text.charCodeAt(29) === COLON ? 33 : 32;
      }
      return 0;
    }
    const c26 = text.charCodeAt(26);
    return c10 === SPACE &&
      c19 === DOT &&
      (c26 === PLUS || c26 === DASH) &&
      text.charCodeAt(31) === SPACE &&
      isDigit(text.charCodeAt(0))
      ? 32
      : 0;
  }
  return c4 === SPACE &&
    isDigit(text.charCodeAt(0)) &&
    text.charCodeAt(8) === SPACE &&
    text.charCodeAt(11) === SPACE &&
    text.charCodeAt(14) === COLON &&
    text.charCodeAt(17) === COLON &&
    text.charCodeAt(20) === SPACE
    ? 21
    : 0;
}

/** The formats without a syslog header, in the order they are tested. Positions are tested on `text`, `message` is cut. */
function readOtherFormat(event: EngineEvent, message: string, text: string, length: number): void {
  if (isXferlog(text, length)) {
    event.timestamp = message.slice(0, 24);
    event.log = message.slice(25);
  } else if (isSnort(text)) {
    event.timestamp = message.slice(0, 21);
    event.log = message.slice(23);
  } else if (isSuricata(text, length)) {
    event.timestamp = message.slice(0, 26);
    event.log = message.slice(28);
  } else if (isApache(text, length)) {
    event.timestamp = message.slice(1, 25);
    event.log = message.slice(27);
  } else if (isAppleLog(text, length)) {
    readAppleLog(event, message);
  } else if (isSquid(text, length)) {
    let start = 14;
    while (message.charCodeAt(start) === SPACE) {
      start += 1;
    }
    event.timestamp = message.slice(0, start - 1);
    event.log = message.slice(start);
  }
}

/** The formats without a syslog header; only their fixed positions are looked at, for texts of 24 bytes or more. */
export function isXferlog(text: string, length: number): boolean {
  return (
    length >= 28 &&
    text.charCodeAt(3) === SPACE &&
    text.charCodeAt(7) === SPACE &&
    text.charCodeAt(10) === SPACE &&
    text.charCodeAt(13) === COLON &&
    text.charCodeAt(16) === COLON &&
    text.charCodeAt(19) === SPACE &&
    text.charCodeAt(24) === SPACE &&
    text.charCodeAt(26) === SPACE
  );
}

/** As `isXferlog`. */
export function isSnort(text: string): boolean {
  return (
    text.charCodeAt(2) === SLASH &&
    text.charCodeAt(5) === DASH &&
    text.charCodeAt(8) === COLON &&
    text.charCodeAt(11) === COLON &&
    text.charCodeAt(14) === DOT &&
    text.charCodeAt(21) === SPACE
  );
}

/** As `isXferlog`. */
export function isSuricata(text: string, length: number): boolean {
  return (
    length >= 28 &&
    text.charCodeAt(2) === SLASH &&
    text.charCodeAt(5) === SLASH &&
    text.charCodeAt(10) === DASH &&
    text.charCodeAt(13) === COLON &&
    text.charCodeAt(16) === COLON &&
    text.charCodeAt(19) === DOT &&
    text.charCodeAt(26) === SPACE
  );
}

/** As `isXferlog`. */
export function isApache(text: string, length: number): boolean {
  return (
    length >= 27 &&
    text.charCodeAt(0) === 0x5b &&
    text.charCodeAt(4) === SPACE &&
    text.charCodeAt(8) === SPACE &&
    text.charCodeAt(11) === SPACE &&
    text.charCodeAt(14) === COLON &&
    text.charCodeAt(17) === COLON &&
    text.charCodeAt(20) === SPACE &&
    text.charCodeAt(25) === 0x5d
  );
}

/** As `isXferlog`. */
export function isAppleLog(text: string, length: number): boolean {
  return (
    length >= 26 &&
    text.charCodeAt(0) === 0x5b &&
    text.charCodeAt(1) === 0x54 &&
    text.charCodeAt(5) === SPACE &&
    text.charCodeAt(10) === DOT &&
    text.charCodeAt(13) === DOT &&
    text.charCodeAt(16) === SPACE &&
    text.charCodeAt(19) === COLON
  );
}

/** As `isXferlog`. */
export function isSquid(text: string, length: number): boolean {
  return (
    length >= 32 &&
    text.charCodeAt(0) === 0x31 &&
    isDigit(text.charCodeAt(1)) &&
    isDigit(text.charCodeAt(2)) &&
    isDigit(text.charCodeAt(3)) &&
    text.charCodeAt(10) === DOT &&
    isDigit(text.charCodeAt(13)) &&
    text.charCodeAt(14) === SPACE &&
    (text.charCodeAt(21) === SPACE || text.charCodeAt(22) === SPACE)
  );
}

/** Apple System Log: `[Time ...] [Sender program] [Message log] [Host host]`, each entry's first occurrence, host last. */
function readAppleLog(event: EngineEvent, message: string): void {
  let haveMessage = false;
  event.log = message.slice(25);
  for (let at = message.indexOf('[', 25); at >= 0; at = message.indexOf('[', at)) {
    at += 1;
    // Looked for at three of the brackets at most: a message of brackets would be gone over at each of them.
    if (event.programName === undefined && message.startsWith('Sender ', at)) {
      const close = message.indexOf(']', at);
      if (close < 0) {
        return;
      }
      event.programName = message.slice(at + 7, close);
      at = close + 1;
    } else if (!haveMessage && message.startsWith('Message ', at)) {
      haveMessage = true;
      const close = message.indexOf(']', at);
      event.log = close < 0 ? message.slice(at + 8) : message.slice(at + 8, close);
      if (close < 0) {
        return;
      }
      at = close + 1;
    } else if (message.startsWith('Host ', at)) {
      const close = message.indexOf(']', at);
      if (close >= 0 && !event.fromAgent) {
        event.hostname = message.slice(at + 5, close);
      }
      return;
    }
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
