// What the programs have in the place of zod (programs.mjs): a schema is made when something is first held against it, not when
// its module is loaded. A daemon knows the schemas of all daemons that it may ask, a thousand and more, and needs few of them
// before it is ready: making all is a sixth of what its start costs.
//
// What is not exported here is refused by the build, but for members of `iso`: one that is missing fails when what uses it is
// loaded. Schemas that contain themselves are none of these.
import * as zod from 'zod';

/** Methods that make a schema of another one; all others are those of the schema itself, which is made for them. */
const DERIVING = new Set([
  ...['optional', 'nullable', 'nullish', 'default', 'prefault', 'catch', 'readonly'],
  ...['min', 'max', 'length', 'nonnegative', 'positive', 'int', 'regex', 'trim', 'toLowerCase'],
  ...['refine', 'superRefine', 'transform', 'pipe', 'extend', 'omit', 'pick', 'partial', 'strict'],
]);
/** Under this a schema that is made later answers with what makes it. */
const MAKE = Symbol('make');

const handler = {
  get({ make }, key) {
    if (key === MAKE) return make;
    if (DERIVING.has(key)) return (...args) => later(() => make()[key](...args.map(madeOf)));
    const schema = make();
    return Reflect.get(schema, key, schema);
  },
  has: ({ make }, key) => key in make(),
  getPrototypeOf: ({ make }) => Object.getPrototypeOf(make()),
};

/** @returns what behaves as the schema that `make` makes, which is called once, when it is first needed */
function later(make) {
  let made;
  return new Proxy({ make: () => (made ??= make()) }, handler);
}

/** @returns an argument with schemas in it made, so that what is held against them finds no detour within */
function madeOf(value) {
  if (typeof value !== 'object' || value === null) return value;
  const make = value[MAKE];
  if (make !== undefined) return make();
  if (Array.isArray(value)) return value.map(madeOf);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, madeOf(each)]));
}

const lazily =
  (make) =>
  (...args) =>
    later(() => make(...args.map(madeOf)));

const [enumeration, nothing] = [lazily(zod.enum), lazily(zod.null)];

export { ZodError } from 'zod';
export const array = lazily(zod.array);
export const boolean = lazily(zod.boolean);
export const custom = lazily(zod.custom);
export const discriminatedUnion = lazily(zod.discriminatedUnion);
export const int = lazily(zod.int);
export const iso = { datetime: lazily(zod.iso.datetime) };
export const literal = lazily(zod.literal);
export const looseObject = lazily(zod.looseObject);
export const number = lazily(zod.number);
export const object = lazily(zod.object);
export const preprocess = lazily(zod.preprocess);
export const record = lazily(zod.record);
export const strictObject = lazily(zod.strictObject);
export const string = lazily(zod.string);
export const tuple = lazily(zod.tuple);
export const union = lazily(zod.union);
export const unknown = lazily(zod.unknown);
export { enumeration as enum, nothing as null };
