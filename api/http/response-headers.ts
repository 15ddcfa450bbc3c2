import type { Request, Response } from 'express';
import type { CorsSettings } from '../api-settings.js';
import { PRODUCT_NAME } from '../product-names.js';

/** On every answer, success or refusal (rest-api.md 1.4). */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  server: PRODUCT_NAME,
  'strict-transport-security': 'max-age=63072000; includeSubdomains',
  'x-frame-options': 'deny',
  'x-xss-protection': '0',
  'x-content-type-options': 'nosniff',
  'content-security-policy': 'none',
  'referrer-policy': 'no-referrer, strict-origin-when-cross-origin',
  'cache-control': 'no-store',
};

/** Methods a browser may use from another origin (rest-api.md 1.4). */
const ALLOWED_METHODS = 'GET';
/** Seconds a browser may remember the answer to a preflight. */
const PREFLIGHT_MAX_AGE = '600';

const SECURITY_ENTRIES = Object.entries(SECURITY_HEADERS);

/** Sets what every answer carries. */
export function setSecurityHeaders(response: Response): void {
  for (const [name, value] of SECURITY_ENTRIES) response.setHeader(name, value);
}

/**
 * Cross-origin requests: the one configured origin may read with GET; preflights are answered here.
 * @param active undefined = off
 */
export function answerOrigin(active: CorsSettings | undefined, request: Request, response: Response): void {
  const origin = request.headers.origin;
  if (active === undefined || origin === undefined) return;
  const anyOrigin = active.sourceRoute === '*';
  const allowed = anyOrigin || origin.toLowerCase() === active.sourceRoute;
  if (allowed) {
    // With credentials a browser takes no star: the origin itself is named then.
    const value = anyOrigin && !active.allowCredentials ? '*' : origin;
    response.set('access-control-allow-origin', value);
    if (value !== '*') response.vary('Origin');
    if (active.allowCredentials) response.set('access-control-allow-credentials', 'true');
    response.set('access-control-expose-headers', active.exposeHeaders);
  }
  const wanted = request.headers['access-control-request-method'];
  if (request.method !== 'OPTIONS' || wanted === undefined) return;
  const asked = request.headers['access-control-request-headers'];
  response.set('access-control-allow-methods', ALLOWED_METHODS);
  response.set('access-control-max-age', PREFLIGHT_MAX_AGE);
  const headers = active.allowHeaders === '*' ? asked : active.allowHeaders;
  if (headers !== undefined) response.set('access-control-allow-headers', headers);
  const good = allowed && wanted === ALLOWED_METHODS;
  response
    .status(good ? 200 : 400)
    .type('text/plain')
    .end(good ? 'OK' : 'Disallowed CORS request');
}
