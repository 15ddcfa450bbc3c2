/** Switches between dark and light; it begins with what the system prefers, and is forgotten with the page. */
export function switchTheme(): void {
  const { dataset } = document.documentElement;
  const prefersDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const current = dataset['theme'] ?? (prefersDark ? 'dark' : 'light');
  dataset['theme'] = current === 'dark' ? 'light' : 'dark';
}
