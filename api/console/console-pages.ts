import { readdirSync, readFileSync } from 'node:fs';
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

/** The console: a page at `/console`, a script and a style, which are read from the disk when somebody asks for them. */
export function consolePages(): ReadonlyMap<string, DocumentPage> {
  const names = readdirSync(FOLDER).filter((name) => !name.endsWith('.br'));
  return new Map(
    names.map((name) => {
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
      const read = (file: string) => once(() => rawResult(type, readFileSync(new URL(file, FOLDER))));
      const isPage = name === 'index.html';
      const page: DocumentPage = {
        result: read(name),
        brotli: read(`${name}.br`),
        ...(isPage ? { contentSecurityPolicy: POLICY } : { cacheControl: FOR_GOOD }),
      };
      return [isPage ? '/console' : `/console/${name}`, page];
    }),
  );
}

function once(make: () => WholeResult): () => WholeResult {
  let made: WholeResult | undefined;
  return () => (made ??= make());
}
