/** A time of a task as the API shows it (rest-api.md 4.6): `2026-05-08T12:34:19Z`. @param seconds epoch seconds */
export function taskTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
