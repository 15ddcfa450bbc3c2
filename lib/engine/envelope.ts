/** Longest location read, in bytes (decoding.md 3.1). */
export const MAX_LOCATION_READ = 8450;
/** Longest location written, in bytes. */
export const MAX_LOCATION_WRITTEN = 8192;
/** Shortest envelope: id, colon, empty location, colon and one byte. */
const MIN_ENVELOPE = 4;

/** The three parts of an envelope, the location unescaped. Byte strings. */
export type Envelope = {
  readonly queue: string;
  readonly location: string;
  readonly message: string;
};

/** Says why a datagram is no envelope, in the texts of decoding.md 3.1. */
export class EnvelopeError extends Error {
  override readonly name = 'EnvelopeError';
  /** Error numbers users know: 1106 (badly formed) or 1222 (too short). */
  readonly code: 1106 | 1222;

  constructor(code: 1106 | 1222, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Takes `<id>:<location>:<message>` apart (decoding.md 3.1). A byte string; what follows a NUL is not part of it.
 *
 * @throws EnvelopeError when it is too short, has no end of the location, or the location is too long
 */
export function parseEnvelope(datagram: string): Envelope {
  const nul = datagram.indexOf('\0');
  const text = nul < 0 ? datagram : datagram.slice(0, nul);
  if (text.length < MIN_ENVELOPE) {
    throw new EnvelopeError(1222, `(1222): Invalid msg: ${text}`);
  }
  const end = locationEnd(text);
  if (end < 0 || end - 2 > MAX_LOCATION_READ) {
    throw new EnvelopeError(1106, '(1106): String not correctly formatted.');
  }
  return { queue: text.charAt(0), location: unescapeLocation(text.slice(2, end)), message: text.slice(end + 1) };
}

/** Offset of the first `:` from byte 2 on that no `|` escapes, or -1. */
function locationEnd(text: string): number {
  for (let at = 2; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x7c) {
      at += 1;
    } else if (code === 0x3a) {
      return at;
    }
  }
  return -1;
}

/** Writes an envelope; the inverse of {@link parseEnvelope}. The location is cut to 8192 bytes after escaping. */
export function formatEnvelope({ queue, location, message }: Envelope): string {
  let escaped = escapeLocation(location);
  if (escaped.length > MAX_LOCATION_WRITTEN) {
    escaped = escapeLocation(unescapeLocation(escaped.slice(0, MAX_LOCATION_WRITTEN - 1)));
  }
  return `${queue}:${escaped}:${message}`;
}

/** `|` -> `||`, `:` -> `|:` */
export function escapeLocation(location: string): string {
  return location.replace(/[|:]/g, '|$&');
}

/** `|x` -> `x`; a trailing single `|` stays. */
export function unescapeLocation(location: string): string {
  return location.includes('|') ? location.replace(/\|([\s\S])/g, '$1') : location;
}
