// Contract, type, formatting, lint and layer checks; every one runs, the exit code is non-zero when any fails.
import { runChecks } from './checks.mjs';
import { Phases } from './phases.mjs';

process.exitCode = (await runChecks(new Phases())).length > 0 ? 1 : 0;
