import { validateHome } from './validate-home.js';
import type { ValidationOrder } from './validation.js';

/* A process that looks at the configuration of a home, as another user than the one who asks, and tells what it found. */
const order = JSON.parse(process.argv[2] ?? '') as ValidationOrder;
process.stdout.write(JSON.stringify(await validateHome(order)));
