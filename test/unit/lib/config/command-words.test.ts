import { expect } from 'chai';
import fc from 'fast-check';
import { commandWords, CommandWordsError } from '../../../../lib/config/command-words.js';

describe('words of a command line', () => {
  it('are separated by blanks', () => {
    expect(commandWords('/usr/sbin/prelink -y')).to.deep.equal(['/usr/sbin/prelink', '-y']);
    expect(commandWords(' \t/bin/a \n -b  ')).to.deep.equal(['/bin/a', '-b']);
  });

  it('may be quoted', () => {
    expect(commandWords(`/bin/a 'b c' "d \\"e\\" \\\\ \\n" f\\ g h'i'"j" ''`)).to.deep.equal([
      '/bin/a',
      'b c',
      'd "e" \\ \\n',
      'f g',
      'hij',
      '',
    ]);
  });

  it('are taken as they are: nothing is expanded', () => {
    expect(commandWords('/bin/a $HOME `b` $(c) * ~ ; & |')).to.deep.equal([
      '/bin/a',
      '$HOME',
      '`b`',
      '$(c)',
      '*',
      '~',
      ';',
      '&',
      '|',
    ]);
  });

  it('must be whole, and name a program', () => {
    for (const line of ["/bin/a 'b", '/bin/a "b', '/bin/a "b\\"', '/bin/a b\\', '', '  ', "''"]) {
      expect(() => commandWords(line), line).to.throw(CommandWordsError);
    }
  });

  it('come back out of any line they were quoted into', () => {
    const words = fc.array(fc.string(), { minLength: 1, maxLength: 5 }).filter(([first]) => first !== '');
    fc.assert(
      fc.property(words, fc.constantFrom("'", '"'), (list, quote) => {
        const quoted = list.map((word) =>
          quote === "'" ? `'${word.replaceAll("'", "'\\''")}'` : `"${word.replace(/["\\]/g, '\\$&')}"`,
        );
        expect(commandWords(quoted.join(' '))).to.deep.equal(list);
      }),
    );
  });
});
