import { parentPort, workerData } from 'node:worker_threads';
import { AGENT_CONF_WORKS } from './agent-conf-work.js';
import type { AgentConfThreadData } from './agent-conf-worker.js';

/* A thread that reads one agent.conf and ends, so that the API goes on meanwhile. */
const { name, text, file } = workerData as AgentConfThreadData;
parentPort?.postMessage(AGENT_CONF_WORKS[name](text, file));
