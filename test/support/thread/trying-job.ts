import { readFileSync } from 'node:fs';
import { serveJob } from '../../../lib/thread/serve-thread.js';

/** What is done: the text is said back, or what it names. */
export type TryingWork = { readonly text: string };

/** A thread of one piece of work, for the tests of lib/thread/. */
serveJob<TryingWork, string, string>(async ({ text }, tell) => {
  if (text === 'throw') throw Object.assign(new TypeError('no such work'), { code: 'no_work' });
  if (text === 'exit') process.exit(3);
  if (text === 'hang') for (;;);
  if (text.startsWith('read ')) readFileSync(text.slice('read '.length));
  await tell(`begun: ${text}`);
  return `done: ${text}`;
});
