import { runDaemon } from '../../lib/daemon/run-daemon.js';
import { CLUSTERD } from './clusterd.js';

void runDaemon(CLUSTERD);
