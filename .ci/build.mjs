// Compiles the sources to dist/: each file on its own, without checking types (`npm test` and `npm run lint` check them), only
// what changed since the last build, and each program in one file of its own (programs.mjs). Prints nothing when there is nothing to do.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildConsole } from './console.mjs';
import { bundlePrograms } from './programs.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const manifestPath = join(dist, '.build.json');
const FLOORS = ['lib', 'daemons', 'api', 'bin', 'test'];
/** The contract of the API and its error catalogue; programs read them as JSON, which takes a hundredth of the time. */
const DOCUMENTS = new Map([
  ['api/openapi.yaml', 'openapi.json'],
  ['api/errors.yaml', 'errors.json'],
]);
/** The console in the browser is one program, made whole whenever a part of it changes. */
const CONSOLE = 'api/console/browser/';

/** What the output depends on beside the sources: another compiler or other options mean compiling everything. */
const recipe = createHash('sha256')
  .update(readFileSync(fileURLToPath(import.meta.url)))
  .update(readFileSync(join(root, '.ci/programs.mjs')))
  .update(readFileSync(join(root, '.ci/lazy-zod.mjs')))
  .update(readFileSync(join(root, '.ci/console.mjs')))
  .update(readFileSync(join(root, '.ci/program-loader.cjs')))
  .update(process.version)
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');

/** @returns the sources by their path below the root, with what tells one state of a file from another */
function sources() {
  const found = [...DOCUMENTS.keys()];
  for (const floor of FLOORS) {
    for (const path of readdirSync(join(root, floor), { recursive: true })) {
      const file = `${floor}/${path}`;
      const isSource = path.endsWith('.ts') && !path.endsWith('.d.ts');
      if (isSource || (file.startsWith(CONSOLE) && /\.(tsx|css|html)$/.test(path))) found.push(file);
    }
  }
  return new Map(
    found.map((path) => {
      const { mtimeMs, size } = statSync(join(root, path));
      return [path, `${mtimeMs}:${size}`];
    }),
  );
}

/** @returns the states of the sources that dist/ was made from; empty when it must be made anew */
function lastBuild() {
  try {
    const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'));
    if (manifest.recipe === recipe) return new Map(Object.entries(manifest.files));
  } catch {
    // No build yet, or one that was broken off.
  }
  return new Map();
}

/** What runs in the checkout's own home goes on with what it has loaded. */
function tellRunning() {
  try {
    const { pid } = JSON.parse(readFileSync(join(root, '.home/var/run/svc-control.lock'), 'utf8'));
    process.kill(pid, 0);
    console.error(`build: what runs in .home (supervisor ${pid}) is what was there before. A restart is due:`);
    console.error(
      'build:   bin/svc-control stop && bin/svc-control start   (npm start in a terminal: Ctrl+C, npm start)',
    );
  } catch {
    // Nothing runs there, or it belongs to somebody else.
  }
}

async function writeDocument(path, name) {
  const { JSON_SCHEMA, load } = await import('js-yaml');
  const document = load(readFileSync(join(root, path), 'utf8'), { schema: JSON_SCHEMA });
  writeFileSync(join(dist, name), JSON.stringify(document));
}

const output = (path) => join(dist, path.replace(/\.ts$/, '.js'));
const before = lastBuild();
const now = sources();
const changed = [...now].filter(([path, state]) => before.get(path) !== state).map(([path]) => path);
const stale = changed.filter((path) => path.endsWith('.ts'));
const gone = [...before.keys()].filter((path) => !now.has(path));
if (changed.length > 0 || gone.length > 0) {
  const started = Date.now();
  if (before.size === 0) {
    console.error(`build: compiling ${stale.length} files`);
    rmSync(dist, { recursive: true, force: true });
  }
  for (const path of gone) {
    rmSync(output(path), { force: true });
    rmSync(`${output(path)}.map`, { force: true });
  }
  if (stale.length > 0) {
    const { build } = await import('esbuild');
    try {
      await build({
        absWorkingDir: root,
        entryPoints: stale,
        outdir: dist,
        outbase: root,
        bundle: false,
        format: 'esm',
        platform: 'node',
        target: 'node20',
        sourcemap: true,
        sourcesContent: false,
        tsconfigRaw: { compilerOptions: { target: 'es2023', verbatimModuleSyntax: true } },
        logLevel: 'error',
      });
    } catch {
      console.error('build: failed; nothing was started.');
      process.exit(1);
    }
  }
  mkdirSync(dist, { recursive: true });
  for (const [path, name] of DOCUMENTS) if (changed.includes(path)) await writeDocument(path, name);
  if (changed.concat(gone).some((path) => path.startsWith(CONSOLE))) {
    try {
      await buildConsole(root);
    } catch (error) {
      console.error(`build: ${error.message}`);
      process.exit(1);
    }
  }
  await bundlePrograms(root);
  writeFileSync(`${manifestPath}.tmp`, JSON.stringify({ recipe, files: Object.fromEntries(now) }));
  renameSync(`${manifestPath}.tmp`, manifestPath);
  console.error(`build: ${stale.length} files compiled in ${((Date.now() - started) / 1000).toFixed(1)} s`);
  tellRunning();
}
