import { PRODUCT_NAME } from '../product-names.js';
import { errorCatalogue } from './error-catalogue.js';
import type { ErrorCode } from './error-code.js';
import { ProblemError } from './problem-error.js';

export type ApiErrorOptions = {
  /** Appended to the message as `<message>: <extra>`. */
  readonly extra?: string;
  /** Fills the `{name}` places of the message. */
  readonly values?: Readonly<Record<string, string>>;
  /** Appended to the remediation as `<remediation>: <extra>`. */
  readonly remediationExtra?: string;
  /** HTTP status when it is not the usual one of the code. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Permission Denied',
  404: 'Resource Not Found',
  406: 'Not Acceptable',
  429: 'Too Many Requests',
  500: `${PRODUCT_NAME} Internal Error`,
  503: 'Service Unavailable',
};

/** A failure that has a code (rest-api.md 3.6): ends a request, or travels in `failed_items`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly remediation: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  /** @throws RangeError when the catalogue does not know the code */
  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    const entry = errorCatalogue().get(code);
    if (entry === undefined) throw new RangeError(`unknown API error code ${String(code)}`);
    const values = options.values ?? {};
    const text = entry.message.replace(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);
    super(options.extra === undefined ? text : `${text}: ${options.extra}`);
    this.code = code;
    this.status = options.status ?? entry.status;
    this.remediation =
      entry.remediation !== undefined && options.remediationExtra !== undefined
        ? `${entry.remediation}: ${options.remediationExtra}`
        : entry.remediation;
    this.headers = options.headers ?? {};
  }

  /**
   * The refusal of a whole request.
   * @param node name shown in `dapi_errors`; absent for refusals in front of the handler
   */
  toProblem(node?: string): ProblemError {
    return new ProblemError(
      this.status,
      {
        title: TITLES[this.status] ?? 'Bad Request',
        detail: this.message,
        ...(this.remediation === undefined ? {} : { remediation: this.remediation }),
        ...(node === undefined ? {} : { dapi_errors: { [node]: this.#nodeError() } }),
        error: this.code,
      },
      this.headers,
    );
  }

  #nodeError(): { error: string; logfile?: string } {
    if (this.status !== 500) return { error: this.message };
    // The text WAZUH_HOME is a placeholder for the home that clients know (rest-api.md 3.4).
    return { error: this.message, logfile: 'WAZUH_HOME/logs/api.log' };
  }
}
