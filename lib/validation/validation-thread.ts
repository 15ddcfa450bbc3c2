import { serveJob } from '../thread/serve-thread.js';
import { validateHome } from './validate-home.js';

/* A thread that looks at the configuration of a home and ends. */
serveJob(validateHome);
