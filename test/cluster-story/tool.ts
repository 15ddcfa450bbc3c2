import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a tool of the system. @param input what it reads @returns what it wrote @throws Error with what it said when it fails */
export async function output(command: readonly string[], input = ''): Promise<string> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  let written = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (written += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) {
    throw new Error(`'${command.join(' ')}' ended with ${String(code)}: ${said.trim()} (${input.trim()})`);
  }
  return written;
}
