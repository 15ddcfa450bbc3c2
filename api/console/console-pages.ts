import { readdirSync, readFileSync } from 'node:fs';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import { rawResult, type WholeResult } from '../http/envelope.js';
import type { DocumentPage } from '../http/request-context.js';

/** Where the build puts the console (.ci/console.mjs). */
const FOLDER = new URL('../../console/', import.meta.url);

/**
 * Everything comes from this server, nothing runs that is no file of it, nobody frames it, and no form leaves it: what an
 * attacker gets into an event stays a text.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** Names carry a sum of what is in them: a browser may keep such a file for good. */
const FOR_GOOD = 'public, max-age=31536000, immutable';

/**
 * The console: a page at `/console`, a script and a style. All of it is read here, so that what a build changes later does
 * not go with what browsers have already; none of it where it is not whole, which a warning says: the API needs no console.
 */
export function consolePages(logger: Pick<Logger, 'warn'>, folder = FOLDER): ReadonlyMap<string, DocumentPage> {
  try {
    const names = readdirSync(folder).filter((name) => !name.endsWith('.br'));
    return new Map(names.map((name) => [name === 'index.html' ? '/console' : `/console/${name}`, page(folder, name)]));
  } catch (error) {
    const what = 'The console is off: build the product again, or say console: no in api.yaml';
    logger.warn(`${what} (${describeError(error)}).`);
    return new Map();
  }
}

/** @throws the file system's error */
function page(folder: URL, name: string): DocumentPage {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  const read = (file: string): (() => WholeResult) => {
    const result = rawResult(type, readFileSync(new URL(file, folder)));
    return () => result;
  };
  return {
    result: read(name),
    brotli: read(`${name}.br`),
    ...(name === 'index.html' ? { contentSecurityPolicy: POLICY } : { cacheControl: FOR_GOOD }),
  };
}
