import { runDaemon } from '../../lib/daemon/run-daemon.js';
import { LOGCOLLECTOR } from './logcollector.js';

void runDaemon(LOGCOLLECTOR);
