import { hash } from 'node:crypto';
import { MinimalAgent } from '../agentlink/minimal-agent.js';

type Step = 'lock_restart' | 'open' | 'write' | 'close' | 'sha1' | 'upgrade' | 'clear_upgrade_result';
type Parameters = { mode?: string; file?: string; buffer?: string; length?: number; installer?: string };

/** The agent's part of an upgrade over the real protocol: JSON on `upgrade`, or texts on `com` as agents before 4.1 have it. */
export class UpgradingAgent extends MinimalAgent {
  /** Steps in the order they came; those of one kind in a row once. */
  readonly steps: Step[] = [];
  /** Packages as they came, by their names. */
  readonly packages = new Map<string, Buffer>();
  /** Names and installers that it was told to install. */
  readonly installed: string[] = [];
  /** Pieces of packages that came. */
  pieces = 0;
  /** Steps that are refused, with the text. */
  readonly refused = new Map<Step, string>();
  /** The step that is not answered. */
  silentAt: Step | undefined;
  /** What the installer ends with. */
  exitCode = '0';
  /** Told of each step, before it is answered. */
  onStep: ((step: Step) => void) | undefined;
  readonly #open = new Map<string, Buffer[]>();

  override onRequest = (target: string, payload: string, bytes: Buffer): string | undefined => {
    if (target === 'upgrade') return this.#json(payload);
    return target === 'com' ? this.#text(payload, bytes) : 'err Unrecognized command';
  };

  /** Tells how the upgrade went, as agents do when they are up again. */
  tell(error: number, message: string): void {
    const status = error === 0 ? 'Done' : 'Failed';
    const report = { command: 'upgrade_update_status', parameters: { error, message, status } };
    this.event('upgrade_module', JSON.stringify(report), 'u');
  }

  #json(payload: string): string | undefined {
    const { command, parameters } = JSON.parse(payload) as { command: Step; parameters: Parameters };
    const { file = '', buffer = '', length, installer = '' } = parameters;
    const chunk = Buffer.from(buffer, 'base64');
    if (command === 'write' && chunk.length !== length) return '{"error":1,"message":"wrong length","data":[]}';
    const answer = this.#do(command, file, chunk, installer);
    if (answer === undefined) return undefined;
    return JSON.stringify({ error: answer.ok ? 0 : 1, message: answer.text, data: [] });
  }

  #text(payload: string, bytes: Buffer): string | undefined {
    const [command = '', ...words] = payload.split(' ');
    let answer: { ok: boolean; text: string } | undefined;
    if (command === 'write') {
      const head = /^write (\d+) (\S+) /.exec(bytes.toString('latin1'));
      const chunk = bytes.subarray(head?.[0].length ?? 0);
      if (chunk.length !== Number(head?.[1])) return 'err wrong length';
      answer = this.#do('write', head?.[2] ?? '', chunk, '');
    } else {
      const file = (command === 'open' ? words[1] : words[0]) ?? '';
      answer = this.#do(command as Step, file, Buffer.alloc(0), words[1] ?? '');
    }
    return answer === undefined ? undefined : `${answer.ok ? 'ok' : 'err'} ${answer.text}`;
  }

  #do(step: Step, file: string, chunk: Buffer, installer: string): { ok: boolean; text: string } | undefined {
    if (this.steps.at(-1) !== step) this.steps.push(step);
    this.onStep?.(step);
    if (this.silentAt === step) return undefined;
    const refusal = this.refused.get(step);
    if (refusal !== undefined) return { ok: false, text: refusal };
    if (step === 'open') this.#open.set(file, []);
    if (step === 'write') {
      this.pieces += 1;
      this.#open.get(file)?.push(Buffer.from(chunk));
    }
    if (step === 'close') this.packages.set(file, Buffer.concat(this.#open.get(file) ?? []));
    if (step === 'sha1') return { ok: true, text: hash('sha1', this.packages.get(file) ?? '', 'hex') };
    if (step === 'upgrade') {
      this.installed.push(`${file} ${installer}`);
      return { ok: true, text: this.exitCode };
    }
    return { ok: true, text: '' };
  }
}
