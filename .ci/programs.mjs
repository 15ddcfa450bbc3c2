// Each program in one file, dist/programs/NAME.cjs, made of the modules in dist/ and of packages, with what the compiler of
// this version of Node makes of it beside: a start takes half of the CPU that loading three hundred files takes. What is
// loaded by its URL (threads, settings of daemons) lies in dist/parts/, with a few files that they share.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Packages that bring native programs, and one that is seldom loaded: they are loaded as they are, the others are taken in. */
const LOADED = ['lmdb', 'zeromq', 'msgpackr-extract', 'node-forge'];
/** A package that is many small files, and nothing but JavaScript. */
const TAKEN_IN_BY_PARTS = /^zod($|\/)/;
/** What reads NAME.cjs, beside it. */
const LOADER = fileURLToPath(new URL('./program-loader.cjs', import.meta.url));
const LAZY_ZOD = fileURLToPath(new URL('./lazy-zod.mjs', import.meta.url));
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

/** Modules that are loaded by their URL, written as `new URL('./x-thread.js', import.meta.url)`; others are read as files. */
const BY_URL = /new URL\(["'](\.[^"']*-(?:thread|process|settings)\.js)["'], import\.meta\.url\)/g;
/** The same, or any other mention of the place of a module. */
const PLACE = new RegExp(`${BY_URL.source}|import\\.meta\\.url`, 'g');

/** @returns what is loaded by its URL, by path below dist/: threads, processes that are modules, settings of daemons; with its name */
function parts(root) {
  const dist = join(root, 'dist');
  const found = new Map();
  for (const floor of ['lib', 'daemons', 'api', 'bin']) {
    for (const path of readdirSync(join(dist, floor), { recursive: true }).filter((each) => each.endsWith('.js'))) {
      const text = readFileSync(join(dist, floor, path), 'utf8');
      for (const [, module] of text.matchAll(BY_URL)) {
        const part = join(floor, dirname(path), module);
        if (existsSync(join(dist, part))) found.set(part, part.replaceAll('/', '.').slice(0, -'.js'.length));
      }
    }
  }
  return found;
}

/** Where a module of ours lies counts for it: it finds its threads and the product by that. */
const keepPlaces = (dist, output, moved) => ({
  name: 'keep-places',
  setup(build) {
    const placeOf = (path) => JSON.stringify(relative(output, path));
    build.onLoad({ filter: /\.js$/ }, ({ path }) => {
      if (!path.startsWith(`${dist}/`)) return undefined;
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const contents = text.replaceAll(PLACE, (_, module) => {
        const name = module === undefined ? undefined : moved.get(join(dirname(relative(dist, path)), module));
        if (name !== undefined) return `new URL(${placeOf(join(dist, 'parts', `${name}.js`))}, import.meta.url)`;
        const here = `new URL(${placeOf(path)}, import.meta.url).href`;
        return module === undefined ? here : `new URL('${module}', ${here})`;
      });
      return { contents, loader: 'js' };
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

/** Schemas of our own modules are made when they are needed; zod itself is as it is. */
const lazySchemas = (dist) => ({
  name: 'lazy-schemas',
  setup(build) {
    build.onResolve({ filter: /^zod$/ }, ({ importer }) =>
      importer.startsWith(`${dist}/`) ? { path: LAZY_ZOD } : undefined,
    );
  },
});

const outsidePackages = {
  name: 'outside-packages',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path }) =>
      TAKEN_IN_BY_PARTS.test(path) ? undefined : { path, external: true },
    );
  },
};

/** Makes dist/programs/ and dist/parts/ anew. @throws Error when a module cannot be found */
export async function bundlePrograms(root) {
  const { build } = await import('esbuild');
  const dist = join(root, 'dist');
  const output = join(dist, 'programs');
  const modules = programs(root);
  const moved = parts(root);
  const options = {
    ...{ absWorkingDir: root, bundle: true, platform: 'node', target: 'node20', logLevel: 'error' },
    logOverride: { 'import-is-undefined': 'error' },
    // The text of a program stays in memory. Its lines are kept short, so that those of stacks say where something is.
    ...{ minifyWhitespace: true, lineLimit: 120 },
  };
  for (const folder of ['programs', 'parts']) rmSync(join(dist, folder), { recursive: true, force: true });
  await build({
    ...options,
    entryPoints: [...modules].map(([out, module]) => ({ in: join('dist', module), out })),
    outdir: output,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    charset: 'ascii',
    external: LOADED,
    define: { 'import.meta.url': 'programUrl' },
    supported: { 'dynamic-import': false },
    plugins: [lazySchemas(dist), withoutLocales, keepPlaces(dist, output, moved)],
  });
  const partsOutput = join(dist, 'parts');
  await build({
    ...options,
    // All in one folder, so that each is at the same distance of what it looks for, as what they share is.
    entryPoints: [...moved].map(([module, out]) => ({ in: join('dist', module), out })),
    outdir: partsOutput,
    format: 'esm',
    splitting: true,
    plugins: [lazySchemas(dist), withoutLocales, outsidePackages, keepPlaces(dist, partsOutput, moved)],
  });
  writeLaunchers(output, modules, (name) => `require('./program-loader.cjs')('${name}', require);\n`);
  copyFileSync(LOADER, join(output, 'program-loader.cjs'));
  for (const name of modules.keys()) toAscii(join(output, `${name}.cjs`));
  await compilePrograms(dist, [...modules.keys()]);
}

/** Node takes what a compiler made under its own flags alone: programs are compiled under those they are started with. */
async function compilePrograms(dist, names) {
  const { productCatalogue } = await import(pathToFileURL(join(dist, 'lib/control/daemon-catalogue.js')).href);
  const byFlags = new Map();
  for (const name of names) {
    const flags = (productCatalogue().program(name)?.args.slice(0, -1) ?? []).join(' ');
    byFlags.set(flags, [...(byFlags.get(flags) ?? []), name]);
  }
  for (const [flags, those] of byFlags) {
    const loader = join(dist, 'programs', 'program-loader.cjs');
    execFileSync(process.execPath, [...flags.split(' ').filter(Boolean), '-e', COMPILE, loader, ...those]);
  }
}

const COMPILE = `
  const [loader, ...names] = process.argv.slice(1);
  for (const name of names) {
    const file = require('node:path').join(loader, '..', name + '.compiled');
    require('node:fs').writeFileSync(file, require(loader).compileProgram(name).createCachedData());
  }
`;

/**
 * The loader reads one byte a character. What esbuild leaves as it is (comments, regular expressions, raw templates) is escaped:
 * an escape means the same in a regular expression, and nothing in a comment.
 */
function toAscii(file) {
  const text = readFileSync(file, 'utf8');
  const escaped = text.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  if (escaped !== text) writeFileSync(file, escaped);
}

/** Makes programs that load the modules of dist/ one by one, so that a change of one of them is a change of the programs. */
export function linkPrograms(root) {
  const output = join(root, 'dist', 'programs');
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  writeLaunchers(output, programs(root), (name, module) => `void import('../${module}');\n`);
}

/** NAME.js is what is started, whichever way the program is made. */
function writeLaunchers(output, modules, text) {
  writeFileSync(join(output, 'package.json'), '{ "type": "commonjs" }\n');
  for (const [name, module] of modules) writeFileSync(join(output, `${name}.js`), text(name, module));
}
