/** `1 TIME HOST APP PROCID MSGID SD [MSG]` after the priority (RFC 5424 6). The structured data is read by hand. */
const HEADER =
  /^1 (-|\d{4}-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) ([!-~]{1,255}) ([!-~]{1,128}) ([!-~]{1,128}) ([!-~]{1,128}) /;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const NIL = '-';
const BYTE_ORDER_MARK = '\xef\xbb\xbf';

/**
 * A message of RFC 5424 in the form of RFC 3164, so that decoders find host and program: `Oct 11 22:14:15 HOST APP[PROCID]:
 * MSG SD`. Time is that of the sender's clock as it wrote it; the structured data comes last, the message id is left out.
 * @param message without its priority
 * @param source address of the sender, where the message does not name a host
 * @param now epoch milliseconds, where it names no time
 * @returns the same message when it is none of RFC 5424
 */
export function rewriteRfc5424(message: Buffer, source: string, now: number): Buffer {
  // '1' and a blank: others are not looked at any further.
  if (message[0] !== 0x31 || message[1] !== 0x20) return message;
  const text = message.toString('latin1');
  const header = HEADER.exec(text);
  if (header === null) return message;
  const [whole, time, month, day, clock, host = NIL, app = NIL, procid = NIL] = header;
  const dataEnd = structuredDataEnd(text, whole.length);
  if (dataEnd === undefined) return message;
  const data = text.slice(whole.length, dataEnd);
  let said = text.slice(dataEnd + 1);
  if (said.startsWith(BYTE_ORDER_MARK)) said = said.slice(BYTE_ORDER_MARK.length);
  const when =
    time === NIL || month === undefined || day === undefined || clock === undefined
      ? bsdTime(new Date(now))
      : `${MONTHS[Number(month) - 1] ?? ''} ${String(Number(day)).padStart(2)} ${clock}`;
  const program = app === NIL ? '' : `${app}${procid === NIL ? '' : `[${procid}]`}: `;
  const name = host === NIL ? source : host;
  return Buffer.from(
    [`${when} ${name} ${program}${said}`, ...(data === NIL ? [] : [data])].join(' ').trimEnd(),
    'latin1',
  );
}

/** Where the structured data that begins at `from` ends; undefined when it is none. */
function structuredDataEnd(text: string, from: number): number | undefined {
  if (text[from] === NIL) return isEnd(text, from + 1) ? from + 1 : undefined;
  let at = from;
  while (text[at] === '[') {
    let quoted = false;
    for (at += 1; at < text.length; at += 1) {
      const char = text[at];
      if (quoted && char === '\\') at += 1;
      else if (char === '"') quoted = !quoted;
      else if (char === ']' && !quoted) break;
    }
    if (at >= text.length) return undefined;
    at += 1;
  }
  return at > from && isEnd(text, at) ? at : undefined;
}

function isEnd(text: string, at: number): boolean {
  return at === text.length || text[at] === ' ';
}

function bsdTime(date: Date): string {
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, '0'));
  return `${MONTHS[date.getMonth()] ?? ''} ${String(date.getDate()).padStart(2)} ${clock.join(':')}`;
}
