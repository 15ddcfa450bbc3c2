// The console as browsers get it: one script, one style and one page, made of api/console/browser, in dist/console, each packed as
// well. Names carry what is in them, so that a browser keeps them for good.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

/** What the console may take on its way, bytes: it opens over a slow line as well. */
const MOST_PACKED_BYTES = 300 * 1024;

/** @throws Error when it cannot be made, or is larger than it may be */
export async function buildConsole(root) {
  const { build } = await import('esbuild');
  const source = join(root, 'api/console/browser');
  const output = join(root, 'dist/console');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join(source, 'main.tsx')],
    outdir: output,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: ['chrome110', 'firefox115', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    tsconfigRaw: { compilerOptions: { target: 'es2023', verbatimModuleSyntax: true } },
    logLevel: 'error',
  });
  const files = new Map();
  const named = (extension) => {
    const { contents } = outputFiles.find(({ path }) => path.endsWith(extension));
    const name = `console-${createHash('sha256').update(contents).digest('hex').slice(0, 12)}${extension}`;
    files.set(name, Buffer.from(contents));
    return `/console/${name}`;
  };
  const page = readFileSync(join(source, 'index.html'), 'utf8')
    .replace('%STYLE%', named('.css'))
    .replace('%SCRIPT%', named('.js'));
  files.set('index.html', Buffer.from(page));
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  let packedBytes = 0;
  for (const [name, content] of files) {
    const packed = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
    packedBytes += packed.length;
    writeFileSync(join(output, name), content);
    writeFileSync(join(output, `${name}.br`), packed);
  }
  if (packedBytes > MOST_PACKED_BYTES) {
    throw new Error(`the console is ${packedBytes} bytes when packed; it may have ${MOST_PACKED_BYTES}`);
  }
  return packedBytes;
}
