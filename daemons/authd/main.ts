import { runDaemon } from '../../lib/daemon/run-daemon.js';
import { AUTHD } from './authd.js';

await runDaemon(AUTHD);
