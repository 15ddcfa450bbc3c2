import { serveJob } from '../../../lib/thread/serve-thread.js';
import { confProblem } from './conf-problem.js';

/** What is to be checked. */
export type ConfCheckOrder = { readonly content: Uint8Array; readonly file: string };

/* A thread that checks one agent.conf and ends. */
serveJob(({ content, file }: ConfCheckOrder) => confProblem(content, file));
