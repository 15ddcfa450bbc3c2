/** An event of a stream (HTML standard, server-sent events). */
export type ServerEvent = { readonly type: string; readonly data: string; readonly id: string | undefined };

/** Bytes of text that an event may have: a server that never ends one must not fill the browser. */
const MAX_EVENT_LENGTH = 1_000_000;

/** Cuts a stream of server-sent events, text piece by text piece. */
export class EventCutter {
  #rest = '';

  /**
   * @returns the events that are whole with this piece; comments are none, but their ids count
   * @throws Error when an event is longer than any that the server makes
   */
  push(text: string): ServerEvent[] {
    const blocks = (this.#rest + text).replaceAll('\r\n', '\n').split('\n\n');
    this.#rest = blocks.pop() ?? '';
    if (this.#rest.length > MAX_EVENT_LENGTH) throw new Error('An event of the stream is too long.');
    return blocks.map(readEvent);
  }
}

function readEvent(block: string): ServerEvent {
  let type = 'message';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const at = line.indexOf(':');
    const name = at === -1 ? line : line.slice(0, at);
    const value = at === -1 ? '' : line.slice(at + 1).replace(/^ /, '');
    if (name === 'event') type = value;
    else if (name === 'id') id = value;
    else if (name === 'data') data.push(value);
  }
  return { type, data: data.join('\n'), id };
}
