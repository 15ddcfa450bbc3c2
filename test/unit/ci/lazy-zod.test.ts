import { expect } from 'chai';
import * as zod from 'zod';
import { productRoot } from '../../../lib/product/product-root.js';

const lazy = (await import(new URL('.ci/lazy-zod.mjs', productRoot()).href)) as typeof zod;

/** What the modules of the product make schemas of, with everything that is in the place of zod. */
const schemas = (z: typeof zod): zod.ZodType[] => {
  const name = z.string().trim().toLowerCase().min(1).max(8).regex(/^\w+$/);
  const node = z.strictObject({
    name,
    port: z.int().min(0).max(65_535).default(1514),
    at: z.iso.datetime().optional(),
  });
  const kinds = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('one'), value: z.number().nonnegative() }),
    z.looseObject({ kind: z.literal(['two', 'three']), value: z.boolean().nullable() }),
  ]);
  return [
    name,
    node,
    kinds,
    z.array(node).length(1),
    z.record(name, z.tuple([z.null(), z.unknown()])),
    z.union([z.enum(['low', 'high']), z.custom((value) => value === 7, 'is not seven')]).nullish(),
    z.preprocess((value) => (value === 'none' ? undefined : value), kinds.optional()),
    z.object({ id: z.int(), ...node.omit({ at: true }).shape }).readonly(),
    z.object({ list: z.array(z.string()).prefault(['a']), other: z.number().catch(3) }).transform(Object.keys),
    node.refine(({ port }) => port !== 22, { message: 'is taken', path: ['port'] }),
  ];
};

const VALUES: readonly unknown[] = [
  ...[undefined, null, 7, 'Web1 ', 'none', 'high', '', {}, [], { name: 'a' }, { name: 'B', port: 22, at: 'today' }],
  ...[
    { kind: 'one', value: 1 },
    { kind: 'two', value: null, more: 1 },
    { kind: 'four' },
    [{ name: 'a' }],
    { a: [null, 1] },
  ],
  ...[
    { id: 1, name: 'a' },
    { id: 1.5, name: 'a', more: 2 },
    { list: [1], other: 'x' },
  ],
];

describe('what programs have in the place of zod', () => {
  it('judges as zod does, in the same words', () => {
    const ours = schemas(lazy);
    for (const [at, theirs] of schemas(zod).entries()) {
      for (const value of VALUES) {
        const of = (schema: zod.ZodType | undefined) => JSON.stringify(schema?.safeParse(value));
        expect(of(ours[at]), `schema ${at} of ${JSON.stringify(value)}`).to.equal(of(theirs));
      }
    }
    expect(() => ours[0]?.parse(7)).to.throw(zod.ZodError);
    expect(ours[0]).to.be.instanceOf(zod.ZodType);
    expect(lazy.object({}).parse({})).to.deep.equal({});
  });

  it('makes nothing before something is held against it, and then once', () => {
    let asked = 0;
    const shape = new Proxy({ name: lazy.string() }, { ownKeys: (target) => ((asked += 1), Reflect.ownKeys(target)) });
    const schema = lazy.object(shape).optional();
    const list = lazy.array(schema).min(1);
    expect(asked).to.equal(0);
    expect(list.safeParse([{ name: 'a' }]).success).to.equal(true);
    expect(schema.safeParse({ name: 1 }).success).to.equal(false);
    expect(list.safeParse([]).success).to.equal(false);
    expect(asked).to.equal(1);
  });
});
