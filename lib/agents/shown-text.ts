/** A text from elsewhere without control characters: it must not command the terminal. */
export function shownText(text: string): string {
  return text.replace(/\p{Cc}/gu, '?');
}
