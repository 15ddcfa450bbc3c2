/** How a program says that its arguments are wrong: with its own name in front, as it says everything else. */
export function usageErrors(program: string): { outputError: (text: string, write: (text: string) => void) => void } {
  return {
    outputError: (text, write) => {
      write(text.replace(/^error: /, `${program}: `));
    },
  };
}
