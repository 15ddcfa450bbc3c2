import { endProcessesOfHome } from './processes-of-home.js';

/*
 * `guard.js PARENT NAME` waits until its standard input is closed, which also happens when whoever holds the other end is
 * killed, and then ends all processes of the home. The path comes in two parts, so that the guard is none of them.
 */
const [parent = '', name = ''] = process.argv.slice(2);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.stdin.resume();
process.stdin.on('end', () => void endProcessesOfHome(`${parent}/${name}`));
