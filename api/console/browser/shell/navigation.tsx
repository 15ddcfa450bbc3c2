import { useState } from 'preact/hooks';
import { useConsole } from '../client/console-context.js';
import { hrefOf } from '../router/location.js';
import { TEXTS } from '../texts.js';
import { PAGES } from './pages.js';
import { switchTheme } from './theme.js';

type NavigationProps = { readonly current: string; readonly onLogOut: () => void };

/** Where one can go; on a phone behind a button. */
export function Navigation({ current, onLogOut }: NavigationProps) {
  const { session } = useConsole();
  const [isOpen, setOpen] = useState(false);
  return (
    <header class="bar-top">
      <a class="skip" href={location.hash} onClick={skip}>
        {TEXTS.skip}
      </a>
      <span class="brand">{TEXTS.product}</span>
      <button
        type="button"
        class="menu"
        aria-expanded={isOpen}
        aria-controls="navigation"
        onClick={() => setOpen(!isOpen)}
      >
        {TEXTS.nav.menu}
      </button>
      <div id="navigation" class={isOpen ? 'navigation open' : 'navigation'}>
        <nav aria-label={TEXTS.nav.label}>
          <ul>
            {PAGES.map(({ name, title }) => (
              <li key={name}>
                <a
                  href={hrefOf([name])}
                  aria-current={name === current ? 'page' : undefined}
                  onClick={() => setOpen(false)}
                >
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="who">
          <span title={TEXTS.nav.loggedInAs(session.user)}>{session.user}</span>
          <button type="button" onClick={switchTheme}>
            {TEXTS.nav.theme}
          </button>
          <button type="button" onClick={onLogOut}>
            {TEXTS.nav.logOut}
          </button>
        </div>
      </div>
    </header>
  );
}

/** The fragment is the place in the console, so it cannot be the name of an element as well. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}
