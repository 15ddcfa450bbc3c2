import { runDaemon } from '../../lib/daemon/run-daemon.js';
import { ANALYSISD } from './analysisd.js';

void runDaemon(ANALYSISD);
