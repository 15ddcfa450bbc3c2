import { Home } from '../../../lib/home/home.js';
import { look } from '../../../lib/sca/look.js';
import { loadPolicyFile } from '../../../lib/sca/policy-file.js';
import { serveThread } from '../../../lib/thread/serve-thread.js';
import type { LookThreadContract } from './look-threads.js';

serveThread<LookThreadContract>(() => ({
  look,
  load: ({ path, real, home, remoteCommands }) => loadPolicyFile(path, real, { home: new Home(home), remoteCommands }),
}));
