/** Lower case of the ASCII letters only: engine texts are byte strings, in which other characters are bytes, not letters. */
export function asciiLowerCase(text: string): string {
  if (!/[A-Z]/.test(text)) return text;
  // toLowerCase would fold the bytes 0xC0..0xDE as Latin-1 letters
  return /[\u0080-\uffff]/.test(text)
    ? text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    : text.toLowerCase();
}
