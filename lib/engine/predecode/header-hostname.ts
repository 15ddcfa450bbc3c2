const SPACE = 0x20;
const COLON = 0x3a;
/** Where the word behind a BSD date begins. */
const WORD = 16;

/**
 * `predecoder.hostname` of the JSON output (decoding.md 5): the word after a BSD date, `Mmm dd hh:mm:ss`, in the full log. It
 * is not the event's host name, exists for agents' events too, and never for other date forms.
 *
 * @param fullLog byte string
 */
export function headerHostname(fullLog: string): string | undefined {
  if (
    fullLog.charCodeAt(3) !== SPACE ||
    fullLog.charCodeAt(6) !== SPACE ||
    fullLog.charCodeAt(9) !== COLON ||
    fullLog.charCodeAt(12) !== COLON ||
    fullLog.charCodeAt(15) !== SPACE ||
    !isMonth(fullLog) ||
    !isDayTens(fullLog.charCodeAt(4)) ||
    !isDigit(fullLog.charCodeAt(5)) ||
    !isTime(fullLog)
  ) {
    return undefined;
  }
  const end = fullLog.indexOf(' ', WORD);
  return end === WORD || fullLog.length === WORD ? undefined : fullLog.slice(WORD, end < 0 ? undefined : end);
}

/** An upper-case letter and two lower-case ones. */
function isMonth(text: string): boolean {
  const first = text.charCodeAt(0);
  return first >= 0x41 && first <= 0x5a && isLowerCase(text.charCodeAt(1)) && isLowerCase(text.charCodeAt(2));
}

/** Two digits each, whichever, at the places of hours, minutes and seconds. */
function isTime(text: string): boolean {
  return (
    isDigit(text.charCodeAt(7)) &&
    isDigit(text.charCodeAt(8)) &&
    isDigit(text.charCodeAt(10)) &&
    isDigit(text.charCodeAt(11)) &&
    isDigit(text.charCodeAt(13)) &&
    isDigit(text.charCodeAt(14))
  );
}

/** A space or 0 to 3. */
function isDayTens(code: number): boolean {
  return code === SPACE || (code >= 0x30 && code <= 0x33);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isLowerCase(code: number): boolean {
  return code >= 0x61 && code <= 0x7a;
}
