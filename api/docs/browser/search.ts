import { matchesSearch } from './matches-search.js';

/** Shows only what a search finds, and says how many operations that are. An empty search shows everything. */
export function showFound(search: string): void {
  const text = search.trim();
  let operations = 0;
  let others = 0;
  for (const element of document.querySelectorAll<HTMLElement>('[data-words]')) {
    const found = matchesSearch(element.dataset['words'] ?? '', text);
    element.hidden = !found;
    if (found && element.classList.contains('operation')) operations += 1;
    else if (found) others += 1;
  }
  for (const section of document.querySelectorAll('section')) {
    const items = [...section.querySelectorAll<HTMLElement>('[data-words]')];
    section.hidden = text !== '' && items.every(({ hidden }) => hidden);
  }
  const errors = document.querySelector<HTMLDetailsElement>('#errors');
  if (errors !== null) errors.open = text !== '' && errors.querySelector('li:not([hidden])') !== null;
  const found = document.querySelector('#found');
  if (found !== null) found.textContent = text === '' ? '' : `${operations} operations, ${others} other things`;
}
