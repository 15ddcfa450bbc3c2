import { look } from '../../../lib/sca/look.js';
import { serveThread } from '../../../lib/thread/serve-thread.js';
import type { LookThreadContract } from './look-threads.js';

serveThread<LookThreadContract>(() => ({ look }));
