import type { Logger } from '../../../../lib/log/logger.js';
import { runProgram } from '../run-program.js';
import type { SelectedAlert } from '../select-alerts.js';
import { type AlertFiles, alertText } from './alert-files.js';
import { webhookMessage } from './payloads.js';
import { postJson } from './post-json.js';

export type IntegrationSettings = {
  readonly name: string;
  readonly apiKey: string;
  readonly hookUrl: string;
  /** JSON text of an object; '' without. */
  readonly options: string;
  readonly alertFormat: 'json' | 'text';
  /** Bytes. */
  readonly maxLog: number;
  /** Seconds of one try. */
  readonly timeout: number;
  readonly retries: number;
};

/** Hands one alert on. */
export interface IntegrationSender {
  /** Most milliseconds that it takes. */
  readonly deadlineMs: number;
  /** @throws Error when it was not taken; RefusedError when others may be */
  send(alert: SelectedAlert, signal: AbortSignal): Promise<void>;
}

const SECOND_MS = 1000;
/** A program has the time of its tries and this beside it, milliseconds; */
const PROGRAM_EXTRA_MS = 30_000;
/** and no more than this. */
const MAX_PROGRAM_MS = 600_000;
const NOT_FOUND = 127;
const PAGERDUTY = 'https://events.pagerduty.com/v2/enqueue';

/** Posts to a webhook. */
export class WebhookSender implements IntegrationSender {
  readonly deadlineMs: number;
  readonly #settings: IntegrationSettings;
  readonly #options: Readonly<Record<string, unknown>>;

  constructor(settings: IntegrationSettings) {
    this.#settings = settings;
    this.deadlineMs = settings.timeout * SECOND_MS + PROGRAM_EXTRA_MS;
    this.#options = settings.options === '' ? {} : (JSON.parse(settings.options) as Record<string, unknown>);
  }

  async send({ alert }: SelectedAlert, signal: AbortSignal): Promise<void> {
    const { name, apiKey, hookUrl, timeout } = this.#settings;
    const { body, headers } = webhookMessage(name, alert, apiKey, this.#options);
    await postJson({
      url: hookUrl === '' ? PAGERDUTY : hookUrl,
      body: JSON.stringify(body),
      ...(headers === undefined ? {} : { headers }),
      timeoutMs: timeout * SECOND_MS,
      signal,
    });
  }
}

export type ProgramSenderParts = {
  readonly settings: IntegrationSettings;
  /** Whole path of the program. */
  readonly program: string;
  /** The home. */
  readonly directory: string;
  readonly files: AlertFiles;
  readonly logger: Logger;
  /** `integrator.debug` */
  readonly debug: boolean;
};

/** Runs a program of integrations/, which finds the alert in a file. */
export class ProgramSender implements IntegrationSender {
  readonly deadlineMs: number;
  readonly #parts: ProgramSenderParts;
  readonly #maxMs: number;
  #cleaned = false;

  constructor(parts: ProgramSenderParts) {
    this.#parts = parts;
    const { timeout, retries } = parts.settings;
    this.#maxMs = Math.min(timeout * (retries + 1) * SECOND_MS + PROGRAM_EXTRA_MS, MAX_PROGRAM_MS);
    this.deadlineMs = this.#maxMs + PROGRAM_EXTRA_MS;
  }

  async send({ alert, text }: SelectedAlert, signal: AbortSignal): Promise<void> {
    const { settings, program, directory, files, logger, debug } = this.#parts;
    const { name, apiKey, hookUrl, options, alertFormat, maxLog, timeout, retries } = settings;
    if (!this.#cleaned) await files.clean();
    this.#cleaned = true;
    const written = await files.write(name, alertFormat === 'json' ? `${text}\n` : alertText(alert, maxLog), options);
    try {
      const args = [
        ...[written.alert, apiKey, hookUrl, debug ? 'debug' : '', written.options, String(timeout), String(retries)],
        ...['>', '/dev/null', '2>&1'],
      ];
      const { code, lastLine } = await runProgram({ program, args, directory, maxMs: this.#maxMs, signal });
      logger.debug(`Integration ${name}: exit ${String(code)}, '${lastLine}'`);
      if (code === 0) return;
      if (code === NOT_FOUND) throw new Error(`Couldn't execute command (${program}). Check file and permissions.`);
      throw new Error(
        `Unable to run integration for ${name} -> integrations. Output: ${lastLine} Exit status was: ${String(code ?? 'a signal')}`,
      );
    } finally {
      await written.remove();
    }
  }
}
