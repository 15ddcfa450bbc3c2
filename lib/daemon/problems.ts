/**
 * What an operator should mend, by the part of a daemon that it concerns. The lifecycle shows one text: a part that is
 * well again does not hide another that is not.
 */
export class Problems {
  readonly #texts = new Map<string, string>();
  readonly #show: (text: string | undefined) => void;

  /** @param show as `DaemonContext.setProblem` */
  constructor(show: (text: string | undefined) => void) {
    this.#show = show;
  }

  /** @param text undefined: it is mended */
  set(part: string, text: string | undefined): void {
    if (text === undefined) this.#texts.delete(part);
    else this.#texts.set(part, text);
    this.#show(this.#texts.size === 0 ? undefined : [...this.#texts.values()].join('; '));
  }

  /** Takes the problem of one part. */
  of(part: string): (text: string | undefined) => void {
    return (text) => {
      this.set(part, text);
    };
  }
}
