/** A copy that keeps nothing else in memory: texts of a decoded message or entry are views that keep all of it. */
export function ownText(text: string): string {
  return Buffer.from(text).toString();
}
