const BSD_HEADER = /^[A-Z][a-z][a-z] [ 0123][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9] ([^ ]+)/;

/**
 * `predecoder.hostname` of the JSON output (decoding.md 5): the word after a BSD date in the full log. It is not the
 * event's host name, exists for agents' events too, and never for other date forms.
 *
 * @param fullLog byte string
 */
export function headerHostname(fullLog: string): string | undefined {
  return BSD_HEADER.exec(fullLog)?.[1];
}
