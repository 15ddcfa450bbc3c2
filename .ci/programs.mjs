// Each program in one file, dist/programs/NAME.js, made of the modules in dist/: one file is loaded in two thirds of the time
// of three hundred. Threads, and what is imported by its URL, stay modules of their own in dist/.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Packages that are many small files, and nothing but JavaScript: they are taken in. The others are loaded as they are. */
const TAKEN_IN = ['zod'];
/** Programs of tests, which start very often. */
const OF_TESTS = ['test-daemon', 'test-control', 'product-control'];

/** @returns modules in dist/ by the name of their program: those that bin/ has launchers of, and those of tests */
function programs(root) {
  const launchers = readdirSync(join(root, 'bin'), { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.includes('.'))
    .map(({ name }) => name);
  const known = new Map(OF_TESTS.map((name) => [name, `test/support/daemon/${name}.js`]));
  const daemons = new Set(readdirSync(join(root, 'daemons')).map((name) => `svc-${name}`));
  for (const name of launchers) {
    if (name === 'svc-apid') known.set(name, 'api/main.js');
    else known.set(name, daemons.has(name) ? `daemons/${name.slice('svc-'.length)}/main.js` : `bin/${name}.js`);
  }
  return known;
}

/** Where a module lies counts for it: it finds threads and the product by that. */
const keepPlaces = (output) => ({
  name: 'keep-places',
  setup(build) {
    build.onLoad({ filter: /\/dist\/.*\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const place = JSON.stringify(relative(output, path));
      return { contents: text.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`), loader: 'js' };
    });
  },
});

/** Texts of zod in forty languages are a third of a program, and nobody reads them: errors are told in our words. */
const withoutLocales = {
  name: 'without-locales',
  setup(build) {
    build.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
      loader: 'js',
    }));
  },
};

const outsidePackages = {
  name: 'outside-packages',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path }) =>
      TAKEN_IN.some((name) => path === name || path.startsWith(`${name}/`)) ? undefined : { path, external: true },
    );
  },
};

/** Makes dist/programs/ anew. @throws Error when a module cannot be found */
export async function bundlePrograms(root) {
  const { build } = await import('esbuild');
  const output = join(root, 'dist', 'programs');
  rmSync(output, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: [...programs(root)].map(([out, module]) => ({ in: join('dist', module), out })),
    outdir: output,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    plugins: [withoutLocales, outsidePackages, keepPlaces(output)],
  });
}

/** Makes programs that load the modules of dist/ one by one, so that a change of one of them is a change of the programs. */
export function linkPrograms(root) {
  const output = join(root, 'dist', 'programs');
  rmSync(output, { recursive: true, force: true });
  for (const [name, module] of programs(root)) {
    const file = join(output, `${name}.js`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `import '../${module}';\n`);
  }
}
