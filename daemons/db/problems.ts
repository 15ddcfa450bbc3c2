/** What is wrong with several parts of a daemon, told as one: a part that is well again does not hide another that is not. */
export class Problems {
  readonly #told = new Map<string, string>();
  readonly #setProblem: (problem: string | undefined) => void;

  constructor(setProblem: (problem: string | undefined) => void) {
    this.#setProblem = setProblem;
  }

  /** Takes the problem of one part; undefined when it has none any more. */
  of(part: string): (problem: string | undefined) => void {
    return (problem) => {
      if (problem === undefined) this.#told.delete(part);
      else this.#told.set(part, problem);
      this.#setProblem(this.#told.size === 0 ? undefined : [...this.#told.values()].join('; '));
    };
  }
}
