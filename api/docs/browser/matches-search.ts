/** Whether words that something is known by contain every word of a search, whatever the case. */
export function matchesSearch(words: string, search: string): boolean {
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => words.includes(word));
}
