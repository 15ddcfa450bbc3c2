const LETTERS = 'rwxrwxrwx';
const SET_UID = 0o4000;
const SET_GID = 0o2000;
const STICKY = 0o1000;

/**
 * Permissions as file integrity monitoring writes them (integrity-and-inventory.md 3.5): 9 characters without the letter
 * of the type; `s`, `s` and `t` stand in the third, sixth and ninth place whether or not `x` is set.
 * @param mode `st_mode`; the bits of the type do not count
 */
export function permissionText(mode: number): string {
  let text = '';
  for (let place = 0; place < 9; place += 1) {
    text += mode & (0o400 >> place) ? LETTERS.charAt(place) : '-';
  }
  if ((mode & (SET_UID | SET_GID | STICKY)) === 0) return text;
  const letter = (at: number, bit: number, special: string): string => (mode & bit ? special : text.charAt(at));
  return (
    text.slice(0, 2) +
    letter(2, SET_UID, 's') +
    text.slice(3, 5) +
    letter(5, SET_GID, 's') +
    text.slice(6, 8) +
    letter(8, STICKY, 't')
  );
}
