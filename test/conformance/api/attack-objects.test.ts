import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ATTACK_RELATIONS, AttackCatalogue, type AttackItem } from '../../../api/mitre/attack-catalogue.js';
import { ATTACK_KINDS, type AttackKind, loadAttackData } from '../../../api/mitre/attack-data.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { sharedData } from '../../support/shared-data.js';

type SourceObject = {
  id: string;
  external_id: string;
  name: string;
  url: string;
  created_time: string;
  modified_time: string;
  mitre_version: string;
  deprecated?: boolean;
  revoked?: boolean;
  short_name?: string;
  tactic_short_names?: string[];
  references?: { source: string; url: string }[];
};
type Source = Record<AttackKind, SourceObject[]> & { source: string; relations: [string, string, string][] };

describe('the shipped ATT&CK objects', () => {
  const data = loadAttackData();
  const catalogue = new AttackCatalogue();
  const all = ATTACK_KINDS.flatMap((kind) => catalogue.items(kind).map((item) => ({ kind, item })));
  const byId = new Map(all.map(({ kind, item }) => [item.id, { kind, item }]));

  it('are each there once, with relations that are known from both ends', () => {
    expect(byId.size).to.equal(all.length);
    const wrong: string[] = [];
    let relations = 0;
    for (const { kind, item } of all) {
      for (const other of ATTACK_RELATIONS[kind]) {
        const ids = new Set(item[other]);
        if (ids.size !== item[other]?.length) wrong.push(`${item.external_id} has ${other} twice, or none`);
        for (const id of ids) {
          const related = byId.get(id);
          const isKnown = related?.kind === other && related.item[kind]?.includes(item.id) === true;
          if (!isKnown) wrong.push(`${item.external_id} ${other} ${id}`);
          relations += 1;
        }
      }
      for (const id of [item.revoked_by, item.subtechnique_of]) {
        if (id !== undefined && byId.get(id)?.kind !== kind) wrong.push(`${item.external_id} names ${id}`);
      }
    }
    expect(wrong).to.deep.equal([]);
    expect(relations).to.be.greaterThan(30_000);
  });

  it('carry the copyright line and the licence of their source', () => {
    const text = readFileSync(new URL('api/mitre/attack-objects.json', productRoot()), 'utf8');
    expect(text).to.match(
      /^\{"source":"MITRE ATT&CK\(R\) [^\n]*\(c\) 2025 The MITRE Corporation\. This work is reproduced/,
    );
    expect(text).to.include('hereby grants you a non-exclusive, royalty-free license');
  });

  it('are described in lines of our own, for objects that exist', () => {
    for (const [kind, lines] of Object.entries(data.descriptions)) {
      const known = new Set(data[kind as AttackKind].map(({ external_id }) => external_id));
      for (const [id, line] of Object.entries(lines)) {
        expect(known, `${kind} ${id}`).to.include(id);
        expect(line, `${kind} ${id}`).to.match(/^[A-Z].{5,100}\.$/);
      }
    }
    expect(catalogue.items('tactics').every(({ description }) => description !== '')).to.equal(true);
  });

  it('agree with the names that rules show', () => {
    type Named = { id: string; name: string; tactics: string[] };
    const names = JSON.parse(readFileSync(new URL('etc/ruleset/mitre/attack.json', productRoot()), 'utf8')) as {
      techniques: Named[];
      tactics: Named[];
    };
    const techniques = new Map(catalogue.items('techniques').map((item) => [item.external_id, item]));
    expect(techniques.size).to.equal(names.techniques.length);
    for (const { id, name, tactics } of names.techniques) {
      const item = techniques.get(id);
      expect(item?.name).to.equal(name);
      expect(item?.tactics?.map((tactic) => byId.get(tactic)?.item.name)).to.deep.equal(tactics);
    }
  });

  it('are those of the source, with every fact and relation', function () {
    const path = sharedData('attack-full.json.gz');
    if (path === undefined) {
      console.log('      (skipped: no shared test data)');
      this.skip();
    }
    const source = JSON.parse(gunzipSync(readFileSync(path)).toString()) as Source;
    expect(readFileSync(new URL('api/mitre/attack-objects.json', productRoot()), 'utf8')).to.include(source.source);
    for (const kind of ATTACK_KINDS) {
      expect(catalogue.items(kind).map(facts)).to.deep.equal(source[kind].map(sourceFacts).sort(byFirst), kind);
    }
    expect(shownRelations(all)).to.deep.equal(source.relations.map((each) => each.join(' ')).sort());
    const tactics = new Map(source.tactics.map((tactic) => [tactic.short_name, tactic.id]));
    for (const { id, tactic_short_names: names = [] } of source.techniques) {
      expect(byId.get(id)?.item.tactics).to.deep.equal(names.map((name) => tactics.get(name)));
    }
  });
});

/** What both sides say of an object, the id first. */
function facts(item: AttackItem): unknown[] {
  const references = item.references.slice(1).map(({ source, url }) => `${source} ${url}`);
  const times = [item.created_time, item.modified_time].map((time) => time.replace('000Z', 'Z'));
  const { id, external_id, name, url, short_name = '', deprecated = 0, revoked_by } = item;
  return [id, external_id, name, url, ...times, short_name, references, deprecated === 1, revoked_by !== undefined];
}

function sourceFacts(object: SourceObject): unknown[] {
  const references = (object.references ?? []).map(({ source, url }) => `${source} ${url}`);
  const times = [object.created_time, object.modified_time];
  const { id, external_id, name, url, short_name = '', deprecated = false, revoked = false } = object;
  return [id, external_id, name, url, ...times, short_name, references, deprecated, revoked];
}

function byFirst([left]: unknown[], [right]: unknown[]): number {
  return String(left) < String(right) ? -1 : 1;
}

/** Relations as the source writes them. */
function shownRelations(all: readonly { kind: AttackKind; item: AttackItem }[]): string[] {
  const found: string[] = [];
  for (const { kind, item } of all) {
    if (item.revoked_by !== undefined) found.push(`${item.id} revoked-by ${item.revoked_by}`);
    if (item.subtechnique_of !== undefined) found.push(`${item.id} subtechnique-of ${item.subtechnique_of}`);
    if (kind === 'tactics' || kind === 'techniques') continue;
    const relation = kind === 'mitigations' ? 'mitigates' : 'uses';
    for (const id of [...(item.techniques ?? []), ...(item.software ?? [])]) {
      found.push(`${item.id} ${relation} ${id}`);
    }
  }
  return found.sort();
}
