/** A text that somebody changes, with what was stored when they began: whoever stores another one meanwhile is noticed. */
export type Draft = { readonly base: string; readonly text: string };

/**
 * What a draft becomes when somebody types; undefined when it is what was there at first.
 * @param stored what is stored as far as this page knows
 */
export function typed(draft: Draft | undefined, stored: string, text: string): Draft | undefined {
  const base = draft?.base ?? stored;
  return text === base ? undefined : { base, text };
}
