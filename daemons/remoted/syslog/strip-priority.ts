const LESS = 0x3c;
const GREATER = 0x3e;
const NEWLINE = 0x0a;
const NUL = 0;

/**
 * A message without what belongs to its transport: NULs and one newline at its end, and the priority, which is all from a
 * `<` at its begin to the first `>` (decoding.md 3.1).
 * @returns a part of the same memory; empty when nothing is left
 */
export function stripPriority(message: Buffer): Buffer {
  let end = message.length;
  while (end > 0 && message[end - 1] === NUL) end -= 1;
  if (end > 0 && message[end - 1] === NEWLINE) end -= 1;
  let start = 0;
  if (message[0] === LESS) {
    const close = message.indexOf(GREATER);
    if (close > 0 && close < end) start = close + 1;
  }
  return start === 0 && end === message.length ? message : message.subarray(start, end);
}
