import type { Schema } from '../../lib/contract/api-contract.js';

/** Follows references of the contract, and puts together what its schemas are made of. */
export class SchemaDocument {
  readonly #document: Readonly<Record<string, unknown>>;

  constructor(document: Readonly<Record<string, unknown>>) {
    this.#document = document;
  }

  /** Shapes that have a name, in the order of the contract. */
  get named(): readonly (readonly [string, Schema])[] {
    const components = this.#document['components'] as { readonly schemas: Readonly<Record<string, Schema>> };
    return Object.entries(components.schemas);
  }

  /** What a value or a reference to one is. @throws Error for a reference to nothing */
  resolve(value: Schema): Schema {
    const reference = value['$ref'];
    if (typeof reference !== 'string') return value;
    let found: unknown = this.#document;
    for (const step of reference.replace(/^#\//, '').split('/')) found = (found as Schema | undefined)?.[step];
    if (found === undefined) throw new Error(`the contract has no ${reference}`);
    return this.resolve(found as Schema);
  }

  /** Members of an object, those of all its parts; a later part says more of what an earlier one has. */
  properties(schema: Schema): ReadonlyMap<string, Schema> {
    const whole = this.resolve(schema);
    const found = new Map(Object.entries((whole['properties'] ?? {}) as Readonly<Record<string, Schema>>));
    for (const part of (whole['allOf'] ?? []) as readonly Schema[]) {
      for (const [name, value] of this.properties(part)) {
        const before = found.get(name);
        found.set(name, before === undefined ? value : { allOf: [before, value] });
      }
    }
    return found;
  }
}

/** Last step of a reference, which is the name of the shape; undefined for what is no reference. */
export function shapeName(schema: Schema): string | undefined {
  const reference = schema['$ref'];
  return typeof reference === 'string' ? reference.slice(reference.lastIndexOf('/') + 1) : undefined;
}
