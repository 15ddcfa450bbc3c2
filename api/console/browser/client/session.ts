import { Failure, readFailure } from './failure.js';

/** What a user may do, action by action: the effect on each resource (`/security/users/me/policies`). */
type Policies = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Seconds before its end at which a session is said to end soon. */
const SOON_S = 60;

/**
 * Who is logged in. The token is in this object alone: it is gone with the page, and nothing else of the browser keeps it.
 */
export class Session {
  #token: string | undefined;
  #user = '';
  #endsAt = 0;
  #policies: Policies = {};
  #mode = 'white';
  #generation = 0;
  readonly #listeners = new Set<() => void>();

  get user(): string {
    return this.#user;
  }

  /** Counts the logins of another user than the one before: what one has seen and typed is not for the next. */
  get generation(): number {
    return this.#generation;
  }

  get isOpen(): boolean {
    return this.#token !== undefined;
  }

  /** Milliseconds since the epoch, of this computer's clock. */
  get endsAt(): number {
    return this.#endsAt;
  }

  /** Milliseconds until somebody should be told that the session ends; negative when that time is over. */
  get tellIn(): number {
    return this.#endsAt - SOON_S * 1000 - Date.now();
  }

  get authorization(): string | undefined {
    return this.#token === undefined ? undefined : `Bearer ${this.#token}`;
  }

  /** Calls back when somebody logs in or out, or a session ends. @returns ends that */
  listen(callback: () => void): () => void {
    this.#listeners.add(callback);
    return () => void this.#listeners.delete(callback);
  }

  /** @throws Failure with what the server says: wrong password, address blocked, cannot be reached */
  async logIn(name: string, password: string): Promise<void> {
    const token = await answerOf('/security/user/authenticate?raw=true', {
      method: 'POST',
      headers: { authorization: basic(name, password) },
    });
    const policies = JSON.parse(
      await answerOf('/security/users/me/policies', { headers: { authorization: `Bearer ${token}` } }),
    ) as { data: Record<string, unknown> };
    const { rbac_mode: mode, ...actions } = policies.data;
    this.#mode = String(mode);
    this.#policies = actions as Policies;
    this.#token = token;
    if (name !== this.#user) this.#generation += 1;
    this.#user = name;
    this.#endsAt = Date.now() + lifetimeOf(token);
    this.#tell();
  }

  /**
   * Forgets the token: somebody logs out, the server takes it no more, or its time is over. The API can only revoke all tokens of
   * a user, also those of scripts that are running: that is for who changes the password, not for a logout here.
   */
  end(): void {
    if (this.#token === undefined) return;
    this.#token = undefined;
    this.#tell();
  }

  /**
   * Whether an action is allowed on something at least; the server decides about each resource.
   * @param action such as `agent:delete`
   */
  may(action: string): boolean {
    const effects = Object.values(this.#policies[action] ?? {});
    return this.#mode === 'black' ? effects.length === 0 || effects.includes('allow') : effects.includes('allow');
  }

  /** Whether what shows the ruleset may be asked for: runs of its tests, and the way of a line through it. */
  get mayExplain(): boolean {
    return ['logtest:run', 'rules:read', 'decoders:read', 'lists:read'].every((action) => this.may(action));
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

async function answerOf(path: string, options: RequestInit): Promise<string> {
  let answer: Response;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Failure('The server cannot be reached.', { status: 0 });
  }
  const text = await answer.text();
  if (!answer.ok) throw readFailure(answer.status, text);
  return text;
}

function basic(name: string, password: string): string {
  const bytes = new TextEncoder().encode(`${name}:${password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/** Milliseconds from a token's issue to its end: the clocks of server and browser need not agree. */
function lifetimeOf(token: string): number {
  const [, payload = ''] = token.split('.');
  const claims = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { exp: number; nbf: number };
  return (claims.exp - claims.nbf) * 1000;
}
