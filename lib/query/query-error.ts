/** Codes of the API for list parameters (rest-api.md 4.4, 4.5). */
export type QueryErrorCode = 1403 | 1407 | 1408 | 1409 | 1412 | 1724;

/** A `q`, `sort` or `select` that cannot be applied. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
  readonly code: QueryErrorCode;
  /** Goes behind the text of the code. */
  readonly extra: string | undefined;
  /** Goes behind the remediation of the code. */
  readonly remediationExtra: string | undefined;

  constructor(code: QueryErrorCode, details: { readonly extra?: string; readonly remediationExtra?: string } = {}) {
    super(`${code}: ${details.extra ?? details.remediationExtra ?? 'not valid'}`);
    this.code = code;
    this.extra = details.extra;
    this.remediationExtra = details.remediationExtra;
  }
}
