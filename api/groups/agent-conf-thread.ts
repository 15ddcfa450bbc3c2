import { serveJob } from '../../lib/thread/serve-thread.js';
import { AGENT_CONF_WORKS } from './agent-conf-work.js';
import type { AgentConfOrder } from './agent-conf-worker.js';

/* A thread that reads one agent.conf and ends, so that the API goes on meanwhile. */
serveJob(({ name, text, file }: AgentConfOrder) => AGENT_CONF_WORKS[name](text, file));
