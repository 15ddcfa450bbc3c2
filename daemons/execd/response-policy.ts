import { WhiteList } from '../../lib/config/white-list.js';
import type { Home } from '../../lib/home/home.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';
import type { ExecdSettings } from './execd-settings.js';
import {
  configuredCommands,
  isScriptName,
  type ResponseCommand,
  type ResponseCommands,
  SharedCommands,
} from './response-commands.js';
import { ResponseError, type ResponseRefusal } from './response-error.js';
import { alertAddresses, type ResponseMessage, withArguments } from './response-message.js';
import { findProgram, type FoundProgram, type NoProgram } from './response-program.js';

/** Names by which managers ask for a restart; the supervisor does it (daemons-and-config.md 5.2). */
export const RESTART_NAMES: ReadonlySet<string> = new Set([
  ...['restart-wazuh', 'restart-wazuh0', 'restart-ossec', 'restart-ossec0'],
]);

/** Names the program itself, which is not undone. */
const DIRECT = '!';

export type ResponsePolicyParts = {
  readonly home: Home;
  readonly settings: () => ExecdSettings;
  readonly logger: Logger;
};

/** What may be run on this host, and against whom. */
export class ResponsePolicy {
  readonly #parts: ResponsePolicyParts;
  readonly #shared: SharedCommands | undefined;
  readonly #refusals = new Map<ResponseRefusal, LimitedLogger>();
  #settings: ExecdSettings | undefined;
  #commands: ResponseCommands = { find: () => undefined };
  #whiteList = new WhiteList([]);

  constructor(parts: ResponsePolicyParts) {
    this.#parts = parts;
    this.#shared = parts.settings().role === 'agent' ? new SharedCommands(parts.home, parts.logger) : undefined;
  }

  /** Minutes of offenders who come back. */
  get repeatedOffenders(): readonly number[] {
    return this.#parts.settings().config['active-response'].repeatedOffenders;
  }

  /** @returns the message as it is carried out @throws ResponseError for one that is not */
  accept(message: ResponseMessage): ResponseMessage {
    this.#follow();
    const { command } = message;
    if (this.#parts.settings().config['active-response'].execdDisabled) {
      throw new ResponseError('disabled', '(1350): Active response disabled.');
    }
    if (RESTART_NAMES.has(command)) return message;
    const { executables, extraArgs } = this.#command(command);
    const found = findProgram(this.#parts.home, executables);
    if ('problem' in found) throw new ResponseError('not_found', badName(command, found.problem));
    const address = alertAddresses(message).find((each) => this.spares(each));
    if (address !== undefined) {
      throw new ResponseError(
        'white_listed',
        `Active response '${command}' refused: '${address}' is on the white list.`,
      );
    }
    return extraArgs === undefined ? message : withArguments(message, extraArgs);
  }

  /** The program of a message that was accepted, as things are now. */
  programOf({ command }: ResponseMessage): (FoundProgram & { readonly timeout: number }) | NoProgram {
    this.#follow();
    try {
      const { executables, timeout } = this.#command(command);
      const found = findProgram(this.#parts.home, executables);
      return 'problem' in found ? { problem: badName(command, found.problem) } : { ...found, timeout };
    } catch (error) {
      if (error instanceof ResponseError) return { problem: error.message };
      throw error;
    }
  }

  /** The program that undoes, where it is still there. @param program path from the home */
  programAt(program: string): FoundProgram | NoProgram {
    return findProgram(this.#parts.home, [program.slice(program.lastIndexOf('/') + 1)]);
  }

  /** Whether whoever has this address or name is never locked out: `<global>` of this host says so. */
  spares(source: string): boolean {
    this.#follow();
    return this.#whiteList.contains(source);
  }

  /** One line a kind of refusal and minute. */
  logRefusal({ code, message }: ResponseError): void {
    let limited = this.#refusals.get(code);
    if (limited === undefined) {
      limited = this.#parts.logger.limited();
      this.#refusals.set(code, limited);
    }
    if (code === 'white_listed' || code === 'disabled') limited.warn(message);
    else limited.error(message);
  }

  #command(name: string): ResponseCommand {
    if (!name.startsWith(DIRECT)) {
      const known = this.#commands.find(name);
      if (known === undefined) throw new ResponseError('unknown_command', badName(name));
      return known;
    }
    const file = name.slice(DIRECT.length);
    if (!isScriptName(file)) {
      throw new ResponseError('unknown_command', `(1318): Invalid name of a program: '${name}'.`);
    }
    if (this.#shared === undefined) {
      // Who asks a manager's svc-execd is not root, and root obeys its own configuration alone.
      throw new ResponseError('unknown_command', badName(name, 'a manager runs what its own configuration names'));
    }
    return { executables: [file], timeout: 0 };
  }

  /** Takes over what a reload has brought. */
  #follow(): void {
    const settings = this.#parts.settings();
    if (settings === this.#settings) return;
    this.#settings = settings;
    const { config } = settings;
    this.#commands = this.#shared ?? configuredCommands(config['active-response'].responses);
    this.#whiteList = new WhiteList(config.global.white_list);
  }
}

function badName(name: string, why?: string): string {
  const text = `(1311): Invalid command name '${name}' provided`;
  return why === undefined ? `${text}.` : `${text}: ${why}.`;
}
