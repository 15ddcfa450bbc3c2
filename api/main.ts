import { runDaemon } from '../lib/daemon/run-daemon.js';
import { APID } from './apid.js';

void runDaemon(APID);
