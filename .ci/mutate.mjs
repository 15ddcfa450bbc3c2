// Mutation run: changes one place of a source file at a time (a condition turned round, a statement left out, a number one
// larger, ...) and runs the tests of that file. A change that no test notices has survived: it is named, and is either
// equivalent (docs/mutation.md says so) or asks for a test.
//
//   npm run mutate                       the security-relevant files below
//   npm run mutate -- FILE...            these sources; --tests T1,T2 runs these tests instead of those that import them
//   npm run mutate -- --line N FILE      only what is changed in that line
//
// It works on a copy below .cache/, one process at a time. The copy takes the tests as they are built at the start.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout, clearTimeout } from 'node:timers';
import { parseArgs } from 'node:util';
import { clock, root } from './phases.mjs';
import { mutantsOf } from './mutants.mjs';
import { linkPrograms } from './programs.mjs';

/** What decides who may do what: folders (with a slash at the end) and files. */
const DEFAULT = [
  'api/auth/',
  'api/rbac/',
  'api/http/access-guards.ts',
  'api/http/address-block.ts',
  'api/http/rate-limit.ts',
  'api/ruleset/upload-target.ts',
  'daemons/authd/enrollment-request.ts',
  'daemons/authd/enrollment-limits.ts',
  'lib/agentlink/message-opener.ts',
  'lib/agentlink/message-counters.ts',
  'lib/agentlink/sender-counter.ts',
  'lib/config/upload-guard.ts',
  'lib/files/open-own-file.ts',
  'lib/home/own-directory.ts',
  'lib/files/read-below.ts',
  'lib/home/trusted-file.ts',
];
/** Tests that reach sources through something else than an import: prefix of the source, tests. */
const THROUGH = [
  ['api/auth/', ['unit/api/login']],
  ['api/auth/authenticator.ts', ['unit/api/processing-order']],
  ['api/auth/fair-queue.ts', ['unit/api/floods']],
  ['api/http/access-entry.ts', ['unit/api/http/api-log']],
  ['api/rbac/', ['unit/api/login', 'unit/api/agents-rbac', 'unit/api/groups-rbac']],
  ['api/http/', ['unit/api/login', 'unit/api/http/limits']],
  ['api/ruleset/upload-target.ts', ['unit/api/uploads', 'unit/api/rules']],
];

/** A mutant may take so many times as long as the tests take without one, and the rest in milliseconds. */
const PATIENCE = 3;
const PATIENCE_MS = 5000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tests: { type: 'string' }, line: { type: 'string' } },
});
const home = join(root, '.cache/mutation');

/** A tree like the checkout whose compiled files are its own. */
function makeCopy() {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  cpSync(join(root, 'dist'), join(home, 'dist'), { recursive: true });
  const own = ['.cache', '.git', '.home', 'dist', 'test'];
  for (const name of readdirSync(root)) if (!own.includes(name)) symlinkSync(join(root, name), join(home, name));
  linkPrograms(home);
  mkdirSync(join(home, 'test'));
  for (const name of ['fixtures', 'vectors']) symlinkSync(join(root, 'test', name), join(home, 'test', name));
}

function sourceFiles(names) {
  return names.flatMap((name) =>
    name.endsWith('/')
      ? readdirSync(join(root, name))
          .filter((file) => file.endsWith('.ts'))
          .map((file) => name + file)
      : [name],
  );
}

/** Compiled tests of a source: unit and conformance tests that import it, and those that reach it otherwise. */
function testsOf(source) {
  if (values.tests !== undefined) return values.tests.split(',').map((path) => compiled(path));
  const module = `/${source.replace(/\.ts$/, '.js')}`;
  const all = readdirSync(join(root, 'dist/test'), { recursive: true })
    .filter((path) => /^(unit|conformance)\/.*\.test\.js$/.test(path))
    .sort();
  const importing = all.filter((path) => readFileSync(join(root, 'dist/test', path), 'utf8').includes(`${module}"`));
  const through = THROUGH.filter(([prefix]) => source.startsWith(prefix)).flatMap(([, tests]) => tests);
  const reaching = all.filter((path) => through.some((test) => path.replace(/(\.slow)?\.test\.js$/, '') === test));
  return [...new Set([...importing, ...reaching])].map((path) => `dist/test/${path}`);
}

function compiled(path) {
  return `dist/${path.replace(/^dist\//, '').replace(/\.ts$/, '.js')}`;
}

/** @returns 'passed', 'failed' or 'hung', and how long it took */
function runTests(tests, limitMs) {
  const begun = performance.now();
  const child = spawn(
    process.execPath,
    ['node_modules/mocha/bin/mocha.js', '--bail', '--exit', '--reporter', 'dot', ...tests],
    { cwd: home, stdio: 'ignore', detached: true },
  );
  return new Promise((resolve) => {
    let outcome;
    const limit = setTimeout(() => {
      outcome = 'hung';
      process.kill(-child.pid, 'SIGKILL');
    }, limitMs);
    child.once('exit', (code) => {
      clearTimeout(limit);
      outcome ??= code === 0 ? 'passed' : 'failed';
      resolve({ outcome, ms: performance.now() - begun });
    });
  });
}

async function mutateFile(source) {
  const tests = testsOf(source);
  if (tests.length === 0) {
    console.log(`${source}: no test imports it`);
    return undefined;
  }
  const text = readFileSync(join(root, source), 'utf8');
  const target = join(home, compiled(source));
  const original = readFileSync(target, 'utf8');
  const { outcome, ms } = await runTests(tests, 600_000);
  if (outcome !== 'passed') {
    console.log(`${source}: its tests fail as it is`);
    return undefined;
  }
  const mutants = mutantsOf(source, text).filter(
    ({ line }) => values.line === undefined || line === Number(values.line),
  );
  const survivors = [];
  for (const mutant of mutants) {
    writeFileSync(target, mutant.code);
    const result = await runTests(tests, ms * PATIENCE + PATIENCE_MS);
    if (result.outcome !== 'passed') continue;
    survivors.push(mutant);
    console.log(`  ${source}:${mutant.line} ${mutant.what}`);
  }
  writeFileSync(target, original);
  console.log(
    `${source}: ${mutants.length - survivors.length} of ${mutants.length} noticed (${tests.length} test files)`,
  );
  return { mutants: mutants.length, survivors: survivors.length };
}

const prepared = spawnSync(process.execPath, [join(root, '.ci/prepare.mjs')], { stdio: 'inherit' });
if (prepared.status !== 0) process.exit(1);
makeCopy();
const begun = performance.now();
const total = { mutants: 0, survivors: 0 };
for (const source of sourceFiles(positionals.length > 0 ? positionals : DEFAULT)) {
  const counted = await mutateFile(source);
  total.mutants += counted?.mutants ?? 0;
  total.survivors += counted?.survivors ?? 0;
}
rmSync(home, { recursive: true, force: true });
console.log(`${total.mutants} changes, ${total.survivors} survived, ${clock(performance.now() - begun)}`);
