import { parentPort, workerData } from 'node:worker_threads';
import { validateHome } from './validate-home.js';
import type { ValidationOrder } from './validation.js';

/* A thread that looks at the configuration of a home and ends. */
parentPort?.postMessage(await validateHome(workerData as ValidationOrder));
