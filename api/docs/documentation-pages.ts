import { readFileSync } from 'node:fs';
import type { ApiContract, Operation } from '../../lib/contract/api-contract.js';
import { rawResult } from '../http/envelope.js';
import type { ErrorCatalogue } from '../http/error-catalogue.js';
import type { DocumentPage } from '../http/request-context.js';
import { renderPage } from './render-page.js';
import { STYLE } from './style.js';

/** Everything that the page needs comes from this server, and it calls nothing else (rest-api.md 8.1, 7). */
const PAGE_POLICY = "default-src 'self'";

/** Modules of the page, which run in the browser. */
const SCRIPTS: readonly (readonly [string, URL])[] = [
  ['/docs/matches-search.js', new URL('./browser/matches-search.js', import.meta.url)],
  ['/docs/page.js', new URL('./browser/page.js', import.meta.url)],
  ['/docs/login.js', new URL('./browser/login.js', import.meta.url)],
  ['/docs/search.js', new URL('./browser/search.js', import.meta.url)],
  ['/docs/try-form.js', new URL('./browser/try-form.js', import.meta.url)],
  ['/docs/try-request.js', new URL('./browser/try-request.js', import.meta.url)],
];

/**
 * The contract for programs (`/openapi.json`) and for people (`/docs`): no login, no outside assets. Each is made when somebody
 * asks for it, and once: rendering all operations takes as long as the rest of a start.
 * @param available whether this version has an operation
 */
export function documentationPages(
  contract: ApiContract,
  errors: ErrorCatalogue,
  available: (operation: Operation) => boolean,
): ReadonlyMap<string, DocumentPage> {
  const own = (type: string, text: () => string): DocumentPage => ({
    result: once(() => rawResult(`${type}; charset=utf-8`, text())),
    contentSecurityPolicy: PAGE_POLICY,
  });
  return new Map<string, DocumentPage>([
    ['/openapi.json', { result: once(() => rawResult('application/json', JSON.stringify(contract.document))) }],
    ['/docs', own('text/html', () => renderPage(contract, errors, available))],
    ['/docs/style.css', own('text/css', () => STYLE)],
    ...SCRIPTS.map(([path, file]) => [path, own('text/javascript', () => readFileSync(file, 'utf8'))] as const),
  ]);
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
