// Makes a checkout runnable: installs packages when they are missing or older than the lockfile, then builds.
// Quick when nothing changed. Uses nothing but Node and npm, because it runs before node_modules exists.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'node_modules', '.installed-from');

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) {
    console.error(`prepare: '${command} ${args.join(' ')}' failed.`);
    process.exit(result.status ?? 1);
  }
}

const lockHash = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lockHash) {
  console.error('prepare: installing packages (once, some 10 s with a quick network)');
  run('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']);
  writeFileSync(stamp, lockHash);
}
if (!process.argv.includes('--install-only')) {
  run(process.execPath, [join(root, '.ci/build.mjs')]);
}
