/** Things that something could not be done to, and why (rest-api.md 3.1). */
export type FailedItem = {
  readonly error: { readonly code: number; readonly message: string; readonly remediation?: string };
  readonly id: readonly (string | number)[];
};

type Facts = {
  readonly status: number;
  readonly code?: number | undefined;
  readonly remediation?: string | undefined;
  readonly failed?: readonly FailedItem[];
};

/** What the API, or the way to it, refused; the words are meant for people. */
export class Failure extends Error {
  override readonly name = 'Failure';
  /** Status of the answer; 0 when there was none. */
  readonly status: number;
  /** Code of the error catalogue; undefined when the server gave none. */
  readonly code: number | undefined;
  readonly remediation: string | undefined;
  /** Every thing that it could not be done to, where it was about several. */
  readonly failed: readonly FailedItem[];

  constructor(message: string, facts: Facts) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.remediation = facts.remediation;
    this.failed = facts.failed ?? [];
  }

  /** Nobody answered: the server is down, or starts anew. */
  get isUnreachable(): boolean {
    return this.status === 0;
  }

  get isDenied(): boolean {
    return this.status === 403;
  }
}

/** Reads the body of a refusal (rest-api.md 3.4); anything else counts by its status alone. */
export function readFailure(status: number, body: string): Failure {
  let members: Record<string, unknown> = {};
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null) members = value as Record<string, unknown>;
  } catch {
    // A proxy's page, say: the status is all there is.
  }
  const text = (name: string): string | undefined => {
    const value = members[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const code = members['error'];
  return new Failure(text('detail') ?? text('title') ?? `Status ${String(status)}`, {
    status,
    code: typeof code === 'number' ? code : undefined,
    remediation: text('remediation'),
  });
}
