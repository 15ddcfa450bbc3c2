import { ATTACK_KINDS, type AttackData, type AttackKind, type AttackRecord, loadAttackData } from './attack-data.js';

/** `source` of every object and of the reference to itself; the dashboard looks for it. */
const ATTACK_SOURCE = 'mitre-attack';
/** Format of the data; clients see it as `db_version`. */
const DATA_FORMAT = '1';

/** What an object cites: itself on attack.mitre.org first, with its external id, then the sources of its text. */
export type AttackReference = { readonly source: string; readonly url: string; readonly external_id?: string };

/** An ATT&CK object as the API shows it; related objects are lists of their ids (rest-api.md 6.17). */
export type AttackItem = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly created_time: string;
  readonly modified_time: string;
  readonly references: readonly AttackReference[];
  readonly external_id: string;
  readonly source: string;
  readonly url: string;
  readonly short_name?: string;
  readonly mitre_version?: string;
  /** 0 or 1. */
  readonly deprecated?: number;
  /** 0 or 1; absent where ATT&CK says nothing. */
  readonly remote_support?: number;
  /** Id of the object that took its place. */
  readonly revoked_by?: string;
  readonly subtechnique_of?: string;
} & Readonly<Partial<Record<AttackKind, readonly string[]>>>;

/** A reference of an object with the object's id, and its kind in the singular. */
export type AttackReferenceItem = AttackReference & { readonly id: string; readonly type: string };

/** What objects of a kind are related to. */
export const ATTACK_RELATIONS: Readonly<Record<AttackKind, readonly AttackKind[]>> = {
  tactics: ['techniques'],
  techniques: ['tactics', 'mitigations', 'software', 'groups'],
  groups: ['software', 'techniques'],
  mitigations: ['techniques'],
  software: ['groups', 'techniques'],
};

const SINGULAR: Readonly<Record<AttackKind, string>> = {
  tactics: 'tactic',
  techniques: 'technique',
  groups: 'group',
  mitigations: 'mitigation',
  software: 'software',
};

/**
 * The objects of ATT&CK in memory, made from the data file when somebody asks for the first time, and never changed: whoever
 * does not use `/mitre/*` pays nothing for it.
 */
export class AttackCatalogue {
  readonly #load: () => AttackData;
  #items: ReadonlyMap<AttackKind, readonly AttackItem[]> | undefined;
  #references: readonly AttackReferenceItem[] | undefined;
  #version = '';

  /** @param load what {@link loadAttackData} reads, or data of a test */
  constructor(load = loadAttackData) {
    this.#load = load;
  }

  /** Every object of a kind, by id. @throws Error for data that is broken */
  items(kind: AttackKind): readonly AttackItem[] {
    return this.#all().get(kind) ?? [];
  }

  /** The references of all objects, by the object's id, its own first. */
  references(): readonly AttackReferenceItem[] {
    this.#references ??= ATTACK_KINDS.flatMap((kind) => this.items(kind).map((item) => ({ kind, item })))
      .sort((a, b) => compareIds(a.item, b.item))
      .flatMap(({ kind, item: { id, references } }) =>
        references.map((reference) => ({ id, ...reference, type: SINGULAR[kind] })),
      );
    return this.#references;
  }

  /** Format and edition of the data, as `GET /mitre/metadata` shows them. */
  metadata(): { readonly key: string; readonly value: string }[] {
    this.#all();
    return [
      { key: 'db_version', value: DATA_FORMAT },
      { key: 'mitre_version', value: this.#version },
    ];
  }

  #all(): ReadonlyMap<AttackKind, readonly AttackItem[]> {
    if (this.#items !== undefined) return this.#items;
    const data = this.#load();
    this.#version = data.version;
    this.#items = new ItemBuilder(data).build();
    return this.#items;
  }
}

/** Makes items of records: ids for external ids, both directions of each relation. */
class ItemBuilder {
  readonly #data: AttackData;
  readonly #ids: ReadonlyMap<AttackKind, ReadonlyMap<string, string>>;
  /** Ids of related objects by id and kind. */
  readonly #related = new Map<string, Map<AttackKind, string[]>>();
  readonly #cited: readonly AttackReference[];

  constructor(data: AttackData) {
    this.#data = data;
    this.#ids = new Map(
      ATTACK_KINDS.map((kind) => [kind, new Map(data[kind].map(({ external_id, id }) => [external_id, id]))]),
    );
    // One object for each, however many cite it.
    this.#cited = data.references.map(([source, url]) => ({ source, url }));
  }

  build(): ReadonlyMap<AttackKind, readonly AttackItem[]> {
    for (const kind of ATTACK_KINDS) for (const record of this.#data[kind]) this.#relate(kind, record);
    return new Map(
      ATTACK_KINDS.map((kind) => [kind, this.#data[kind].map((record) => this.#item(kind, record)).sort(compareIds)]),
    );
  }

  #relate(kind: AttackKind, record: AttackRecord): void {
    for (const other of ATTACK_RELATIONS[kind]) {
      for (const externalId of record[other] ?? []) {
        const id = this.#id(other, externalId);
        this.#relatedOf(record.id, other).push(id);
        this.#relatedOf(id, kind).push(record.id);
      }
    }
  }

  #item(kind: AttackKind, record: AttackRecord): AttackItem {
    const { external_id, id, name, short_name, mitre_version, deprecated = false, remote_support } = record;
    const url = `https://attack.mitre.org/${kind}/${external_id.replace('.', '/')}`;
    const isTactic = kind === 'tactics';
    return {
      id,
      name,
      description: this.#data.descriptions[kind]?.[external_id] ?? '',
      ...(short_name === undefined ? {} : { short_name }),
      created_time: withMicroseconds(record.created_time),
      modified_time: withMicroseconds(record.modified_time),
      ...(isTactic ? {} : { mitre_version, deprecated: Number(deprecated) }),
      ...(remote_support === undefined ? {} : { remote_support: Number(remote_support) }),
      ...(record.revoked_by === undefined ? {} : { revoked_by: this.#id(kind, record.revoked_by) }),
      ...(record.subtechnique_of === undefined ? {} : { subtechnique_of: this.#id(kind, record.subtechnique_of) }),
      ...Object.fromEntries(ATTACK_RELATIONS[kind].map((other) => [other, this.#relatedOf(id, other)])),
      references: [
        { source: ATTACK_SOURCE, url, external_id },
        ...(record.references ?? []).map((place) => this.#reference(place, external_id)),
      ],
      external_id,
      source: ATTACK_SOURCE,
      url,
    };
  }

  #relatedOf(id: string, kind: AttackKind): string[] {
    let lists = this.#related.get(id);
    if (lists === undefined) this.#related.set(id, (lists = new Map<AttackKind, string[]>()));
    let list = lists.get(kind);
    if (list === undefined) lists.set(kind, (list = []));
    return list;
  }

  #id(kind: AttackKind, externalId: string): string {
    const id = this.#ids.get(kind)?.get(externalId);
    if (id === undefined) throw new Error(`the ATT&CK data has no '${externalId}' among its ${kind}`);
    return id;
  }

  #reference(place: number, externalId: string): AttackReference {
    const reference = this.#cited[place];
    if (reference === undefined) {
      throw new Error(`the ATT&CK data has no reference ${place}, which '${externalId}' cites`);
    }
    return reference;
  }
}

function compareIds(left: { readonly id: string }, right: { readonly id: string }): number {
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0;
}

/** Times as clients of 4.x know them (rest-api.md 4.6). */
function withMicroseconds(time: string): string {
  return time.replace(/\.(\d{3})Z$/, '.$1000Z');
}
