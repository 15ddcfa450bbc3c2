/*
 * Why our own: glob(3) knows neither `{a,b}` nor `!(a)` nor `**`, which picomatch and minimatch take for more than themselves;
 * they make a regular expression, which for `*a*a*a*a*ab` and a name of 150 letters took picomatch 4 seven seconds; and tinyglobby
 * reads directories as UTF-8, so that it cannot tell of a name that is none.
 */

/** Whether a path has a wildcard (integrity-and-inventory.md 2.5). */
export function hasWildcard(path: string): boolean {
  return /[*?[]/.test(path);
}

/**
 * One name of a wildcard (`*`, `?` and `[...]` as in glob(7)) as something that takes no longer than name and wildcard are
 * long, times each other. Names are byte strings or text. A leading dot is the caller's business.
 * @param escapes whether a backslash takes the meaning from what follows
 */
export function namePattern(part: string, escapes = true): { test(name: string): boolean } {
  const pieces: ('*' | ((code: number) => boolean))[] = [];
  for (let at = 0; at < part.length;) {
    const char = part.charAt(at);
    const set = char === '[' ? readSet(part, at) : undefined;
    if (char === '*') {
      if (pieces.at(-1) !== '*') pieces.push('*');
      at += 1;
    } else if (char === '?') {
      pieces.push(() => true);
      at += 1;
    } else if (set !== undefined) {
      pieces.push(set.has);
      at = set.next;
    } else {
      const escaped = escapes && char === '\\' && at + 1 < part.length;
      const code = part.charCodeAt(escaped ? at + 1 : at);
      pieces.push((other) => other === code);
      at += escaped ? 2 : 1;
    }
  }
  return { test: (name) => matches(pieces, name) };
}

/** Goes back to the last `*` alone: an earlier one never has to take more. */
function matches(pieces: readonly ('*' | ((code: number) => boolean))[], name: string): boolean {
  let piece = 0;
  let at = 0;
  let star = -1;
  let mark = 0;
  while (at < name.length) {
    const current = pieces[piece];
    if (current === '*') {
      star = piece++;
      mark = at;
    } else if (current?.(name.charCodeAt(at)) === true) {
      piece += 1;
      at += 1;
    } else if (star >= 0) {
      piece = star + 1;
      at = ++mark;
    } else {
      return false;
    }
  }
  while (pieces[piece] === '*') piece += 1;
  return piece === pieces.length;
}

/** `[abc]`, `[a-z]`, `[!...]`, `[^...]`; a `]` in the first place is meant as such. Undefined without an end. */
function readSet(
  part: string,
  start: number,
): { readonly has: (code: number) => boolean; readonly next: number } | undefined {
  let at = start + 1;
  const negated = part.charAt(at) === '!' || part.charAt(at) === '^';
  if (negated) at += 1;
  const end = part.indexOf(']', at + 1);
  if (end < 0) return undefined;
  const ranges: [number, number][] = [];
  while (at < end) {
    const low = part.charCodeAt(at);
    if (part.charAt(at + 1) === '-' && at + 2 < end) {
      ranges.push([low, part.charCodeAt(at + 2)]);
      at += 3;
    } else {
      ranges.push([low, low]);
      at += 1;
    }
  }
  return { has: (code) => ranges.some(([low, high]) => code >= low && code <= high) !== negated, next: end + 1 };
}
