import { runDaemon } from '../../lib/daemon/run-daemon.js';
import { AGENTD } from './agentd.js';

void runDaemon(AGENTD);
