import { runDaemon } from '../../lib/daemon/run-daemon.js';
import { AGENTD } from './agentd.js';

await runDaemon(AGENTD);
