import { runDaemon } from '../../lib/daemon/run-daemon.js';
import { SYSCHECKD } from './syscheckd.js';

void runDaemon(SYSCHECKD);
