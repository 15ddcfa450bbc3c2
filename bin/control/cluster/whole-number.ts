/** @throws Error that names the option, for what is no number from 1 to `most` */
export function wholeNumber(text: string, option: string, most: number): number {
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text) || value < 1 || value > most) {
    throw new Error(`${option} '${text}': a number from 1 to ${most}`);
  }
  return value;
}
