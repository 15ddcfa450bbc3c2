import { appendFileSync } from 'node:fs';

/** Writes down what the driver does, with times that can be compared with those of the manager log. */
export class RunLog {
  constructor(readonly path: string) {}

  say(text: string): void {
    appendFileSync(this.path, `${new Date().toISOString()} ${text}\n`);
  }
}
