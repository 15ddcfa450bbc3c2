const PLACES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text for HTML, also between double quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => PLACES[character] ?? character);
}

/** Text of a `pre` element: quotes need no place there, and examples are full of them. */
export function preHtml(text: string, className: string): string {
  return `<pre class="${className}">${text.replace(/[&<>]/g, (character) => PLACES[character] ?? character)}</pre>`;
}

/** Data for the page's script, as an attribute between single quotes. */
export function jsonAttribute(name: string, data: object): string {
  return ` data-${name}='${JSON.stringify(data).replaceAll('&', '&amp;').replaceAll("'", '&#39;')}'`;
}

/** Escaped text in a `code` element. */
export function codeHtml(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}

/** A description of the contract, escaped, with `...` in backquotes as code. */
export function proseHtml(text: string): string {
  return escapeHtml(text).replace(/`([^`]*)`/g, '<code>$1</code>');
}
