import { runDaemon } from '../../lib/daemon/run-daemon.js';
import { MONITORD } from './monitord.js';

void runDaemon(MONITORD);
