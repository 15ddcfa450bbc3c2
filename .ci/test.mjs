// Lint, then the whole mocha suite. Extra arguments go to mocha (for example: npm test -- --grep osregex).
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const suites = ['unit', 'conformance', 'integration'].filter((name) => existsSync(join(root, 'dist/test', name)));
const specs = suites.map((name) => `dist/test/${name}/**/*.test.js`);
const lint = spawnSync(process.execPath, [join(root, '.ci/lint.mjs')], { cwd: root, stdio: 'inherit' });
const mocha = spawnSync(
  process.execPath,
  ['--enable-source-maps', join(root, 'node_modules/mocha/bin/mocha.js'), ...specs, ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit', env: { ...process.env, SVC_LINT_FAILED: lint.status === 0 ? '' : '1' } },
);
process.exit(lint.status !== 0 ? (lint.status ?? 1) : (mocha.status ?? 1));
