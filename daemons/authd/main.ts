import { runDaemon } from '../../lib/daemon/run-daemon.js';
import { AUTHD } from './authd.js';

void runDaemon(AUTHD);
