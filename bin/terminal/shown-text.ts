/** A text from elsewhere without control characters: it must not command the terminal. */
export function shownText(text: string): string {
  return text.replace(/\p{Cc}/gu, '?');
}

/** The same for a text of several lines. */
export function shownLines(text: string): string {
  return text.split('\n').map(shownText).join('\n');
}
