import { runDaemon } from '../../lib/daemon/run-daemon.js';
import { EXECD } from './execd.js';

void runDaemon(EXECD);
