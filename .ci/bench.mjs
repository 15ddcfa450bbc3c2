// `npm run bench -- NAME [arguments]`: runs the compiled test/bench/NAME.ts; without a name, lists what there is.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const directory = join(root, 'dist', 'test', 'bench');
const [name, ...rest] = process.argv.slice(2);
const file = join(directory, `${name}.js`);
if (name === undefined || !/^[a-z-]+$/.test(name) || !existsSync(file)) {
  const names = readdirSync(directory).filter((entry) => entry.endsWith('.js'));
  console.error(
    `usage: npm run bench -- NAME [arguments]; NAME is one of ${names.map((entry) => entry.slice(0, -3)).join(', ')}`,
  );
  process.exit(2);
}
const result = spawnSync(process.execPath, [file, ...rest], { stdio: 'inherit' });
process.exit(result.status ?? 1);
