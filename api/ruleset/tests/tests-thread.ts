import { serveJob } from '../../../lib/thread/serve-thread.js';
import { runRulesetTests } from './run-ruleset-tests.js';

/* A thread that loads a ruleset, runs its tests and ends. */
serveJob(runRulesetTests);
