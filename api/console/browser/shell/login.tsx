import { useEffect, useRef, useState } from 'preact/hooks';
import { useConsole } from '../client/console-context.js';
import { describe } from '../client/notices.js';
import { Dialog } from '../parts/dialog.js';
import { Field } from '../parts/field.js';
import { TEXTS } from '../texts.js';

/** The first page: who are you? */
export function LoginPage() {
  useEffect(() => {
    document.title = `${TEXTS.login.title} · ${TEXTS.product}`;
  }, []);
  return (
    <main class="login">
      <h1>{TEXTS.product}</h1>
      <LoginForm user="" />
      <p class="hint">{TEXTS.login.hint}</p>
    </main>
  );
}

/** A session has ended; the page behind stays as it is. */
export function SessionEnded({ onLogOut }: { readonly onLogOut: () => void }) {
  const { session } = useConsole();
  return (
    <Dialog title={TEXTS.login.title}>
      <p>{TEXTS.login.ended}</p>
      <LoginForm user={session.user} />
      <div class="actions">
        <button type="button" onClick={onLogOut}>
          {TEXTS.nav.logOut}
        </button>
      </div>
    </Dialog>
  );
}

type LoginFormProps = { readonly user: string; readonly onDone?: () => void };

/** Name and password; the password is forgotten with the form. */
export function LoginForm({ user, onDone }: LoginFormProps) {
  const { session } = useConsole();
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const name = useRef<HTMLInputElement>(null);
  const password = useRef<HTMLInputElement>(null);
  useEffect(() => (user === '' ? name : password).current?.focus(), [user]);
  const submit = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await session.logIn(name.current?.value ?? '', password.current?.value ?? '');
      onDone?.();
    } catch (failure) {
      setError(describe(failure));
      setBusy(false);
      password.current?.select();
    }
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field label={TEXTS.login.user}>
        {(attributes) => (
          <input {...attributes} ref={name} name="user" autocomplete="username" required defaultValue={user} />
        )}
      </Field>
      <Field label={TEXTS.login.password} error={error}>
        {(attributes) => (
          <input
            {...attributes}
            ref={password}
            name="password"
            type="password"
            autocomplete="current-password"
            required
          />
        )}
      </Field>
      <button class="primary" disabled={isBusy}>
        {TEXTS.login.submit}
      </button>
    </form>
  );
}
