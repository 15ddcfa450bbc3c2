import { basicAuthorization } from './try-request.js';

/**
 * Who tries operations here. Token and password are kept in this object alone: they are gone with the page, and nothing else
 * can read them.
 */
export class Session {
  #token: string | undefined;
  #basic: string | undefined;

  /** `Authorization` for an operation. @param basic it takes name and password */
  authorization(basic: boolean): string | undefined {
    if (basic) return this.#basic;
    return this.#token === undefined ? undefined : `Bearer ${this.#token}`;
  }

  /** Takes a token that somebody has; an empty one is a logout of this page. */
  use(token: string): void {
    this.#token = token === '' ? undefined : token;
  }

  /** @throws Error with what the server said */
  async logIn(name: string, password: string): Promise<void> {
    const authorization = basicAuthorization(name, password);
    const headers = { Authorization: authorization };
    const answer = await fetch('/security/user/authenticate?raw=true', { method: 'POST', headers });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status}: ${text}`);
    this.#token = text;
    this.#basic = authorization;
  }
}

/** Puts the form into its place, once. */
export function showLogin(place: HTMLElement, session: Session): void {
  const state = place.querySelector('summary');
  const form = document.createElement('form');
  form.innerHTML =
    '<label>User <input name="name" autocomplete="username"></label>' +
    '<label>Password <input name="password" type="password" autocomplete="current-password"></label>' +
    '<label>or a token <input name="token" autocomplete="off"></label>' +
    '<button>Use</button> <span role="status"></span>' +
    '<p class="meaning">Kept in this page alone, until it is closed or loaded again.</p>';
  const note = form.querySelector('span');
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const data = new FormData(form);
    const text = (name: string) => String(data.get(name) ?? '').trim();
    const say = (words: string, failed: boolean) => {
      if (note === null) return;
      note.textContent = words;
      note.className = failed ? 'failed' : '';
    };
    const done = (who: string) => {
      say('', false);
      form.reset();
      if (state !== null) state.textContent = who;
      place.removeAttribute('open');
    };
    if (text('name') === '') {
      session.use(text('token'));
      done(text('token') === '' ? 'Log in to try' : 'With a token');
      return;
    }
    session.logIn(text('name'), String(data.get('password') ?? '')).then(
      () => done(`Logged in as ${text('name')}`),
      (error: unknown) => say(error instanceof Error ? error.message : String(error), true),
    );
  });
  place.append(form);
}
