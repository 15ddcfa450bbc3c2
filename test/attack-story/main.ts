import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Home } from '../../lib/home/home.js';
import { describeError } from '../../lib/log/describe-error.js';
import { productRoot } from '../../lib/product/product-root.js';
import { ApiClient } from '../support/api/api-client.js';
import { AttackStory } from './attack-story.js';

/*
 * Plays an attack on three hosts against a manager that runs, for whoever looks at it in the console:
 *
 *   npm run demo -- attack [--home HOME]
 */
const USAGE = 'usage: npm run demo -- attack [--home HOME]';
/** Slow enough to be watched. */
const PACE_MS = 350;

async function main(): Promise<number> {
  let path: string;
  try {
    const { values } = parseArgs({ options: { home: { type: 'string' } } });
    path = values.home ?? process.env['SVC_HOME'] ?? fileURLToPath(new URL('.home', productRoot()));
  } catch (error) {
    console.error(`demo: ${describeError(error)}\n${USAGE}`);
    return 2;
  }
  const home = new Home(path);
  const abort = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => abort.abort());
  const story = new AttackStory({
    home,
    api: new ApiClient(home),
    say: console.log,
    paceMs: PACE_MS,
    signal: abort.signal,
  });
  try {
    console.log(`Three agents connect to the manager of ${home.root}:`);
    await story.begin();
    console.log('What is in their logs now:');
    const sent = await story.play();
    console.log(
      `\n${String(sent)} lines were sent. Now find out in the console: who did what, on which host, and how did he get in?` +
        '\nThe three agents go; "Agents" in the console removes them for good.',
    );
    return 0;
  } catch (error) {
    if (abort.signal.aborted) return 130;
    console.error(`demo: ${describeError(error)}\ndemo: is a manager running there? "npm start" starts one.`);
    return 1;
  } finally {
    story.end();
  }
}

process.exitCode = await main();
