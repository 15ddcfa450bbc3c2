/** An event of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export type ServerEvent = { readonly event: string; readonly id: string | undefined; readonly data: string };

/** Characters of an event that has not ended: an alert has some kilobytes. */
const MAX_EVENT = 16_777_216;

/**
 * Reads server-sent events. An id without data is an event without data: it says where to go on.
 * @throws Error for a stream that is none
 */
export async function* readEvents(chunks: AsyncIterable<Buffer | string>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > MAX_EVENT) throw new Error('an event that has no end');
    for (const block of blocks) {
      const event = readEvent(block);
      if (event !== undefined) yield event;
    }
  }
}

function readEvent(block: string): ServerEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''));
  }
  const id = fields.get('id');
  const data = fields.get('data') ?? '';
  return data === '' && id === undefined ? undefined : { event: fields.get('event') ?? '', id, data };
}
