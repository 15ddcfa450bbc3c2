import { parentPort, workerData } from 'node:worker_threads';
import { confProblem } from './conf-problem.js';

/** What a thread is begun with. */
export type ConfCheckOrder = { readonly content: Uint8Array; readonly file: string };

/** What it answers once. */
export type ConfCheckAnswer = { readonly problem: string | undefined };

const { content, file } = workerData as ConfCheckOrder;
const answer: ConfCheckAnswer = { problem: confProblem(content, file) };
parentPort?.postMessage(answer);
