/** Texts of control messages, which start with `#!-` (agents-and-groups.md 4). Trailing spaces are part of them. */

/** First bytes of every control message. */
export const CONTROL_HEADER = '#!-';

/** Answer to a startup and to each keepalive: agents compare it as a whole. */
export const ACK_MESSAGE = '#!-agent ack ';

/** Last message of an agent that stops. */
export const SHUTDOWN_MESSAGE = '#!-agent shutdown ';

/** End of a pushed file. */
export const PUSH_END_MESSAGE = '#!-close file ';

const HEADER_BYTES = Buffer.from(CONTROL_HEADER, 'latin1');

/** Whether a payload is a control message; any other is an event, or from a manager content of a pushed file. */
export function isControl(payload: Buffer): boolean {
  return payload[0] === HEADER_BYTES[0] && payload[1] === HEADER_BYTES[1] && payload[2] === HEADER_BYTES[2];
}

/** First message of an agent on a connection. @param version `v4.14.7` */
export function startupMessage(version: string): string {
  return `${CONTROL_HEADER}agent startup ${JSON.stringify({ version })}`;
}

/** Rejection of a startup. */
export function errorMessage(message: string): string {
  return `${CONTROL_HEADER}err ${JSON.stringify({ message })}`;
}

/** Start of a pushed file. @param md5 32 hex digits of the whole content */
export function pushStartMessage(md5: string, name: string): string {
  return `${CONTROL_HEADER}up file ${md5} ${name}\n`;
}

/** Request to a part of the agent. @param counter hex digits @param target `agent`, `logcollector`, `syscheck`, ... */
export function requestMessage(counter: string, target: string, payload: string | Uint8Array): string | Buffer {
  const head = `${CONTROL_HEADER}req ${counter} ${target} `;
  return typeof payload === 'string' ? head + payload : Buffer.concat([Buffer.from(head, 'latin1'), payload]);
}

/** Answer to a request. */
export function answerMessage(counter: string, answer: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${CONTROL_HEADER}req ${counter} `, 'latin1'), Buffer.from(answer)]);
}

/** Says, over UDP only, that a request or an answer has come. */
export function requestAckMessage(counter: string): string {
  return `${CONTROL_HEADER}req ${counter} ack`;
}
