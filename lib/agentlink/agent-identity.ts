/** Longest id that is taken as one (agents-and-groups.md 1.1). */
const ID = /^\d{1,8}$/;
/** First no dot; 2 to 128 characters in all. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{1,127}$/;
const ID_DIGITS = 3;

/** Id of the manager itself, which never has a key. */
export const MANAGER_ID = '000';

/** Whether the text is the id of an agent: 1 to 8 digits. */
export function isAgentId(text: string): boolean {
  return ID.test(text);
}

/** The text of an id: at least three digits. */
export function formatAgentId(id: number): string {
  return String(id).padStart(ID_DIGITS, '0');
}

/** Whether the text may be the name of an agent: 2 to 128 characters of `A-Z a-z 0-9 - _ .`, the first no dot. */
export function isAgentName(text: string): boolean {
  return NAME.test(text);
}
