import { Session, showLogin } from './login.js';
import { showFound } from './search.js';
import { addTryForm } from './try-form.js';

const session = new Session();
const search = document.querySelector<HTMLInputElement>('#search');

/** Opens what the address names, and everything around it. */
function openTarget(): void {
  const target = document.querySelector(':target');
  if (target === null) return;
  if (target.closest('[hidden]') !== null && search !== null) {
    search.value = '';
    showFound('');
  }
  for (let element: Element | null = target; element !== null; element = element.parentElement) {
    if (element instanceof HTMLDetailsElement) element.open = true;
  }
  target.scrollIntoView();
}

/** The search stands in the address, so that it can be handed on. */
function searchFor(text: string): void {
  showFound(text);
  const address = new URL(location.href);
  if (text === '') address.searchParams.delete('search');
  else address.searchParams.set('search', text);
  history.replaceState(null, '', address);
}

const tools = document.querySelector<HTMLElement>('#tools');
if (tools !== null) tools.hidden = false;
const login = document.querySelector<HTMLElement>('#login');
if (login !== null) showLogin(login, session);
for (const operation of document.querySelectorAll<HTMLDetailsElement>('details.operation')) {
  operation.addEventListener('toggle', () => {
    if (operation.open) addTryForm(operation, session);
  });
}
if (search !== null) {
  search.addEventListener('input', () => searchFor(search.value));
  const asked = new URL(location.href).searchParams.get('search');
  if (asked !== null) {
    search.value = asked;
    showFound(asked);
  }
  document.addEventListener('keydown', (event) => {
    const isWriting = event.target instanceof Element && event.target.matches('input, textarea, select');
    if (event.key !== '/' || isWriting) return;
    event.preventDefault();
    search.focus();
  });
}
addEventListener('hashchange', openTarget);
openTarget();
