/** Members of a problem body, in the order they are written (rest-api.md 3.4). */
export type ProblemMembers = {
  readonly title: string;
  readonly detail?: string;
  readonly remediation?: string | null;
  readonly dapi_errors?: Readonly<Record<string, { readonly error: string; readonly logfile?: string }>>;
  readonly error?: number;
};

/**
 * A refusal that ends a request: thrown anywhere in the pipeline, answered as `application/problem+json`
 * (rest-api.md 3.4).
 */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  readonly members: ProblemMembers;
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param status HTTP status
   * @param members body; line breaks and runs of blanks in the detail are flattened as clients know them
   * @param headers additional response headers, for example `Retry-After`
   */
  constructor(status: number, members: ProblemMembers, headers: Readonly<Record<string, string>> = {}) {
    super(members.detail ?? members.title);
    this.status = status;
    this.members = members.detail === undefined ? members : { ...members, detail: flatten(members.detail) };
    this.headers = headers;
  }

  /** 400 without a code: validation of names, values and bodies. */
  static badRequest(detail: string): ProblemError {
    return new ProblemError(400, { title: 'Bad Request', detail });
  }

  /** 401 (rest-api.md 2.3). */
  static unauthorized(detail: string): ProblemError {
    return new ProblemError(401, { title: 'Unauthorized', detail });
  }

  static notFound(): ProblemError {
    return new ProblemError(404, { title: 'Not Found', detail: '404: Not Found' });
  }

  static methodNotAllowed(): ProblemError {
    return new ProblemError(405, { title: 'Method Not Allowed', detail: '405: Method Not Allowed' });
  }
}

/** Double line breaks become `. `, single ones vanish, runs of blanks shrink to one (rest-api.md 3.4). */
function flatten(detail: string): string {
  return detail.replace(/\n\n/g, '. ').replace(/\n/g, '').replace(/ {2,}/g, ' ');
}
