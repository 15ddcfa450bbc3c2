/** A command line that cannot be taken apart. */
export class CommandWordsError extends Error {
  override readonly name = 'CommandWordsError';
}

/**
 * Takes a command line apart into the program and its arguments, where no shell does: words are separated by blanks;
 * what stands in single quotes is taken as it is, in double quotes a backslash takes itself and a double quote, and
 * outside of quotes any character. Nothing is expanded.
 * @throws CommandWordsError for a quote that is not closed, or nothing at all
 */
export function commandWords(line: string): [program: string, ...words: string[]] {
  const words: string[] = [];
  let word: string | undefined;
  let rest = line;
  while (rest !== '') {
    const part = PARTS.exec(rest);
    if (part === null) throw new CommandWordsError(`A quote or a backslash is not ended in '${line}'`);
    const [all, blank, single, double, escaped, plain] = part;
    rest = rest.slice(all.length);
    if (blank === undefined) {
      word = (word ?? '') + (single ?? double?.replace(/\\(["\\])/g, '$1') ?? escaped ?? plain ?? '');
    } else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  if (word !== undefined) words.push(word);
  const [program, ...others] = words;
  if (program === undefined || program === '') throw new CommandWordsError(`No command is named in '${line}'`);
  return [program, ...others];
}

const PARTS = /^(?:(\s+)|'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+))/;
