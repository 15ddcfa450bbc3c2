import type { PolicyFields } from './policy-fields.js';

/** Names that are told: a policy that someone else wrote could have as many as values. */
const MOST_TOLD = 20;
/** Characters of a name that are shown. */
const MOST_SHOWN = 64;

/** Fields by the mapping they stand in (integrity-and-inventory.md 10.2); `impact` and what describes requirements are known and not used. */
const KNOWN = {
  'a policy file': ['policy', 'requirements', 'variables', 'checks'],
  policy: ['id', 'file', 'name', 'description', 'references', 'regex_type'],
  requirements: ['title', 'description', 'rationale', 'condition', 'regex_type', 'rules'],
  'a check': [
    ...['id', 'title', 'description', 'rationale', 'remediation', 'impact', 'references', 'compliance'],
    ...['condition', 'regex_type', 'rules'],
  ],
} as const;

type Place = keyof typeof KNOWN;

/** Collects fields that a policy should not have: most are misspelt, and what they say has no effect. */
export class UnknownFields {
  /** By mapping and name: where the first stands, and how many there are. */
  readonly #found = new Map<string, { readonly first: string; count: number }>();
  readonly #file: string;
  #untold = 0;

  /** @param file how messages call the policy */
  constructor(file: string) {
    this.#file = file;
  }

  /** Looks at the names of a mapping. */
  look(place: Place, fields: PolicyFields): void {
    const known: readonly string[] = KNOWN[place];
    for (const [name] of fields.entries()) if (!known.includes(name)) this.#note(place, name, fields);
  }

  /** One line for each name, with the place of the first. */
  get problems(): string[] {
    const told = [...this.#found.values()].map(({ first, count }) =>
      count === 1 ? first : `${first} (so have ${String(count - 1)} more)`,
    );
    return this.#untold === 0 ? told : [...told, `${this.#file}: ${String(this.#untold)} more fields have no effect`];
  }

  #note(place: Place, name: string, fields: PolicyFields): void {
    const key = `${place} ${name}`;
    const found = this.#found.get(key);
    if (found !== undefined) {
      found.count += 1;
    } else if (this.#found.size >= MOST_TOLD) {
      this.#untold += 1;
    } else {
      const shown = JSON.stringify(name.slice(0, MOST_SHOWN)).slice(1, -1);
      const { message } = fields.error(name, `'${shown}' is no field of ${place}: it has no effect`);
      this.#found.set(key, { first: message, count: 1 });
    }
  }
}
