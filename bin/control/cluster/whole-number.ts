/** @throws Error that names the option, for what is no number from `least` to `most` */
export function wholeNumber(text: string, option: string, most: number, least = 1): number {
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text) || value < least || value > most) {
    throw new Error(`${option} '${text}': a number from ${least} to ${most}`);
  }
  return value;
}
