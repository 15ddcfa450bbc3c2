import { runDaemon } from '../../lib/daemon/run-daemon.js';
import { MODULESD } from './modulesd.js';

void runDaemon(MODULESD);
