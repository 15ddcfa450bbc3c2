import { appendFileSync, writeFileSync } from 'node:fs';
import type { Attack } from './story-configuration.js';

const FIRST_PROCESS = 1000;

/** The log of sshd on the host of the agent. Each line is there once: its process has a number of its own. */
export class AttackedLog {
  readonly path: string;
  /** In their order. */
  readonly lines: string[] = [];
  #process = FIRST_PROCESS;

  constructor(path: string) {
    this.path = path;
    writeFileSync(path, '');
  }

  /** So many failures of an address more. @returns their lines */
  fail(attack: Attack, address: string, count = 1): readonly string[] {
    const time = new Date()
      .toString()
      .slice(4, 24)
      .replace(/ \d{4}/, '')
      .replace(/ 0(?=\d )/, '  ');
    const added = Array.from({ length: count }, () => {
      this.#process += 1;
      return `${time} web1 sshd[${String(this.#process)}]: ${attack.text(address)}`;
    });
    this.lines.push(...added);
    appendFileSync(this.path, added.map((line) => `${line}\n`).join(''));
    return added;
  }
}
