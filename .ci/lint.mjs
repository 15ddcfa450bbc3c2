// Type, formatting, lint and layer checks, in that order; every one runs, the exit code is non-zero when any fails.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);
const checks = [
  ['types', process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b']],
  [
    'prettier',
    bin('prettier'),
    ['--check', '--cache', '--cache-location', '.cache/prettier', '--log-level', 'warn', '.'],
  ],
  ['eslint', bin('eslint'), ['--cache', '--cache-location', '.cache/eslint', '--max-warnings', '0', '.']],
  ['layers', bin('depcruise'), ['--output-type', 'err', 'bin', 'api', 'daemons', 'lib', 'test']],
];
let failed = false;
for (const [name, command, args] of checks) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) {
    failed = true;
    console.error(`lint: ${name} failed`);
  }
}
process.exit(failed ? 1 : 0);
