// What the product exports although no other module of the product needs it: such a name is its module's own business, or
// nobody's. Lists them and exits with 1 when there are any. Types may be exported for themselves, as they name what exported
// functions take and give, and a test may look at what its module uses itself.
import { FLOORS, readModules } from './modules.mjs';

/** What only tests import, with the reason. */
const SEAMS = new Map([
  ['WODLE_NAMES', 'two tables of modules must agree'],
  ['WODLE_SHAPES', 'two tables of modules must agree'],
]);

const modules = readModules();
const isProduct = (file) => FLOORS.some((floor) => file.startsWith(`${floor}/`));
const product = new Map();
const tests = new Map();
for (const [file, { imports }] of modules) {
  const users = isProduct(file) ? product : tests;
  for (const { target, names } of imports) {
    const used = users.get(target) ?? users.set(target, new Set()).get(target);
    for (const name of names) used.add(name);
  }
}
const uses = (users, file, name) => users.get(file)?.has(name) === true || users.get(file)?.has('*') === true;

let found = 0;
for (const [file, { exports, identifiers }] of modules) {
  if (!isProduct(file)) continue;
  for (const [name, { line, isType }] of exports) {
    if (uses(product, file, name) || SEAMS.has(name)) continue;
    const usedHere = identifiers.get(name) > 1;
    if (usedHere && (isType || uses(tests, file, name))) continue;
    const what = usedHere ? 'is used here alone: it needs no export' : 'is not used';
    console.error(`${file}:${line} ${name} ${what}`);
    found += 1;
  }
}
process.exitCode = found > 0 ? 1 : 0;
