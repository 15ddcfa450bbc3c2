import type { EngineEvent } from '../event.js';

const SPACE = 0x20;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const BAR = 0x7c;

const DIGIT = 1;
const LETTER = 2;
const LOWER = 4;
const NAME = 8;

/** Classes of each byte; NAME are the bytes of host and program names (decoding.md 3.3). */
const CLASSES = ((): Uint8Array => {
  const classes = new Uint8Array(256);
  for (let code = 0; code < 256; code += 1) {
    const text = String.fromCharCode(code);
    classes[code] =
      (/[0-9]/.test(text) ? DIGIT : 0) |
      (/[A-Za-z]/.test(text) ? LETTER : 0) |
      (/[a-z]/.test(text) ? LOWER : 0) |
      (/[A-Za-z0-9()\-./@_]/.test(text) ? NAME : 0);
  }
  return classes;
})();

function is(code: number, classes: number): boolean {
  return ((CLASSES[code] ?? 0) & classes) !== 0;
}

function skip(text: string, from: number, classes: number): number {
  let at = from;
  while (is(text.charCodeAt(at), classes)) {
    at += 1;
  }
  return at;
}

/**
 * Reads host and program behind the date of a syslog line (decoding.md 3.3, group S): sets `log`, `programName` and,
 * unless the event came from an agent, `hostname`.
 *
 * @param at offset behind the date
 */
export function readSyslogHeader(event: EngineEvent, text: string, at: number): void {
  const start = text.charCodeAt(at) === SPACE ? at + 1 : at;
  const wordEnd = skip(text, start, NAME);
  const stop = text.charCodeAt(wordEnd);
  if (stop === SPACE) {
    if (!event.fromAgent) {
      event.hostname = text.slice(start, wordEnd);
    }
    readProgram(event, text, wordEnd + 1);
  } else if (stop === COLON && text.charCodeAt(wordEnd + 1) === SPACE) {
    event.programName = text.slice(start, wordEnd);
    event.log = text.slice(wordEnd + 2);
  } else {
    event.log = text.slice(start);
  }
}

function readProgram(event: EngineEvent, text: string, start: number): void {
  const end = skip(text, start, NAME);
  const stop = text.charCodeAt(end);
  if (stop === COLON) {
    setProgram(event, text, start, end, text.charCodeAt(end + 1) === SPACE ? end + 2 : end + 1);
    return;
  }
  if (stop === OPEN_BRACKET && is(text.charCodeAt(end + 1), DIGIT)) {
    const close = skip(text, end + 1, DIGIT);
    const after = text.charCodeAt(close + 1);
    if (text.charCodeAt(close) === CLOSE_BRACKET && (after === COLON || after === SPACE)) {
      const log = after === COLON && text.charCodeAt(close + 2) === SPACE ? close + 3 : close + 2;
      setProgram(event, text, start, end, log);
      return;
    }
  } else if (stop === BAR && is(text.charCodeAt(end + 1), LOWER)) {
    const word = skipFacility(text, end + 1);
    if (word > 0) {
      readProgramAfterFacility(event, text, word);
      return;
    }
  }
  event.log = text.slice(start);
}

/** AIX writes `auth|security:info ` before the program; gives the offset behind it, or 0. */
function skipFacility(text: string, from: number): number {
  const colon = skip(text, from, DIGIT | LETTER);
  if (text.charCodeAt(colon) !== COLON) {
    return 0;
  }
  const space = skip(text, colon + 1, DIGIT | LETTER);
  return text.charCodeAt(space) === SPACE ? space + 1 : 0;
}

function readProgramAfterFacility(event: EngineEvent, text: string, start: number): void {
  const end = skip(text, start, NAME);
  const stop = text.charCodeAt(end);
  if (stop === COLON && text.charCodeAt(end + 1) === SPACE) {
    setProgram(event, text, start, end, end + 2);
    return;
  }
  if (stop === OPEN_BRACKET && is(text.charCodeAt(end + 1), DIGIT)) {
    const close = skip(text, end + 1, DIGIT);
    if (text.startsWith(']: ', close)) {
      setProgram(event, text, start, end, close + 3);
      return;
    }
  }
  // Quirk of the reference: without one of the two ends the name runs to the end of the message.
  setProgram(event, text, start, text.length, end);
}

function setProgram(event: EngineEvent, text: string, start: number, end: number, logStart: number): void {
  event.programName = text.slice(start, end);
  let log = logStart;
  // Solaris: `[ID 702911 auth.info] ` before the log.
  if (text.charCodeAt(log) === OPEN_BRACKET && text.startsWith('[ID ', log)) {
    const close = text.indexOf(']', log);
    if (close >= 0) {
      log = close + 2;
    }
  }
  event.log = text.slice(log);
}
