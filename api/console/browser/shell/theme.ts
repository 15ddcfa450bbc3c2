const SYSTEM = matchMedia('(prefers-color-scheme: dark)');
let isChosen = false;

/** Dark or light as the system prefers it, also when that changes; until somebody chooses. */
export function followSystemTheme(): void {
  const follow = () => {
    if (!isChosen) document.documentElement.dataset['theme'] = SYSTEM.matches ? 'dark' : 'light';
  };
  SYSTEM.addEventListener('change', follow);
  follow();
}

/** Switches between dark and light; it is forgotten with the page. */
export function switchTheme(): void {
  const { dataset } = document.documentElement;
  isChosen = true;
  dataset['theme'] = dataset['theme'] === 'dark' ? 'light' : 'dark';
}
