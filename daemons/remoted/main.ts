import { runDaemon } from '../../lib/daemon/run-daemon.js';
import { REMOTED } from './remoted.js';

void runDaemon(REMOTED);
