import { basename } from 'node:path/posix';
import {
  type AgentCommand,
  type AgentCommands,
  type CommandAnswer,
  JSON_COMMANDS,
  LOCK_RESTART,
  readCommandAnswer,
  TEXT_COMMANDS,
} from './agent-commands.js';
import type { PackageFile } from './package-file.js';
import { MAX_JSON_CHUNK_BYTES, OPEN_ATTEMPTS, OPEN_PAUSE_MS } from './upgrade-limits.js';

/** Asks an agent. @throws AgentUnreachableError when it did not answer; the signal's reason */
export type AskAgent = (command: AgentCommand, signal: AbortSignal) => Promise<string>;

/** The agent was not reached, or did not answer: it may be tried again. */
export class AgentUnreachableError extends Error {
  override readonly name = 'AgentUnreachableError';
}

/** The agent refused a step, or did it wrong: there is no use in trying again. */
export class UpgradeStepError extends Error {
  override readonly name = 'UpgradeStepError';
}

export type SendPackageParts = {
  readonly ask: AskAgent;
  readonly file: PackageFile;
  /** Below `var/upgrade`; the agent gets its last part. */
  readonly path: string;
  readonly installer: string;
  /** Whether the agent takes JSON: 4.1 and later. */
  readonly takesJson: boolean;
  /** `chunk_size`, bytes. */
  readonly chunkBytes: number;
  readonly signal: AbortSignal;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Called before the order to install is given. @throws Error: it is not given */
  readonly installing: () => Promise<void>;
};

/**
 * Sends a package to an agent, compares its sum and has the agent install it (agents-and-groups.md 4.5). Nothing that
 * matters is left on the agent when it breaks off before the order to install: the next time the file is begun anew.
 * @returns when the agent has taken the order, or may have
 * @throws AgentUnreachableError and the signal's reason before the order; UpgradeStepError; PackageError
 */
export async function sendPackage(parts: SendPackageParts): Promise<void> {
  const { file, installer, takesJson, signal } = parts;
  const commands = takesJson ? JSON_COMMANDS : TEXT_COMMANDS;
  const name = basename(parts.path);
  if (!takesJson && /\s/.test(name)) {
    throw new UpgradeStepError(`agents before 4.1 take no name with blanks: '${name}'`);
  }
  const sum = await file.sha1(signal);
  await step(parts, 'would not put off restarts', LOCK_RESTART);
  await openOnAgent(parts, commands, name);
  const chunkBytes = takesJson ? Math.min(parts.chunkBytes, MAX_JSON_CHUNK_BYTES) : parts.chunkBytes;
  for await (const chunk of file.chunks(chunkBytes)) {
    await step(parts, 'could not write the package', commands.write(name, chunk));
  }
  await step(parts, 'could not close the package', commands.close(name));
  const { text } = await step(parts, 'could not make the sum of the package', commands.sha1(name));
  if (text.toLowerCase() !== sum) {
    throw new UpgradeStepError(
      `the package did not arrive as it was sent: its SHA-1 is ${sum}, the agent has '${text}'`,
    );
  }
  signal.throwIfAborted();
  await parts.installing();
  await install(parts, commands.upgrade(name, installer));
}

/** An agent that has another file open refuses: it is asked some times. */
async function openOnAgent(parts: SendPackageParts, commands: AgentCommands, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await ask(parts, commands.open(name));
    if (answer.ok) return;
    if (attempt === OPEN_ATTEMPTS) throw refused('could not open a file for the package', answer);
    await parts.sleep(OPEN_PAUSE_MS, parts.signal);
  }
}

async function install(parts: SendPackageParts, command: AgentCommand): Promise<void> {
  let answer: CommandAnswer;
  try {
    answer = await ask(parts, command);
  } catch (error) {
    // The installer stops the agent, perhaps before it answers: how it went is told later.
    if (error instanceof AgentUnreachableError) return;
    throw error;
  }
  if (!answer.ok) throw refused('would not install the package', answer);
  if (/^-?\d+$/.test(answer.text) && Number(answer.text) !== 0) {
    throw new UpgradeStepError(`the installer of the package ended with code ${answer.text}`);
  }
}

async function step(parts: SendPackageParts, failure: string, command: AgentCommand): Promise<CommandAnswer> {
  const answer = await ask(parts, command);
  if (!answer.ok) throw refused(failure, answer);
  return answer;
}

async function ask({ ask: askAgent, signal }: SendPackageParts, command: AgentCommand): Promise<CommandAnswer> {
  signal.throwIfAborted();
  return readCommandAnswer(await askAgent(command, signal));
}

function refused(failure: string, { text }: CommandAnswer): UpgradeStepError {
  return new UpgradeStepError(`the agent ${failure}${text === '' ? '' : `: ${text}`}`);
}
