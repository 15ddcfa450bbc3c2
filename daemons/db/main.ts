import { runDaemon } from '../../lib/daemon/run-daemon.js';
import { DB } from './db.js';

void runDaemon(DB);
