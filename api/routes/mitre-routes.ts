import type { OperationHandlers } from '../http/api-request.js';
import { type ApiResult, listResult } from '../http/envelope.js';
import { KeptBytes } from '../http/kept-bytes.js';
import { pageOf } from '../lists/list-parameters.js';
import type { ListQuery } from '../lists/run-list-query.js';
import { ATTACK_RELATIONS, type AttackCatalogue } from '../mitre/attack-catalogue.js';

const OBJECT_FIELDS = ['id', 'name', 'description', 'created_time', 'modified_time'];
const STATE_FIELDS = ['mitre_version', 'revoked_by', 'deprecated'];
const SOURCE_FIELDS = ['references', 'external_id', 'source', 'url'];
/** Techniques have some that the data says nothing of: they may be asked for, and no item has them. */
const TECHNIQUE_FIELDS = ['mitre_detection', 'network_requirements', 'remote_support', 'subtechnique_of'];

const LISTS = {
  tactics: [...OBJECT_FIELDS, 'short_name', ...ATTACK_RELATIONS.tactics, ...SOURCE_FIELDS],
  techniques: [
    ...OBJECT_FIELDS,
    ...STATE_FIELDS,
    ...TECHNIQUE_FIELDS,
    ...ATTACK_RELATIONS.techniques,
    ...SOURCE_FIELDS,
  ],
  groups: [...OBJECT_FIELDS, ...STATE_FIELDS, ...ATTACK_RELATIONS.groups, ...SOURCE_FIELDS],
  mitigations: [...OBJECT_FIELDS, ...STATE_FIELDS, ...ATTACK_RELATIONS.mitigations, ...SOURCE_FIELDS],
  software: [...OBJECT_FIELDS, ...STATE_FIELDS, ...ATTACK_RELATIONS.software, ...SOURCE_FIELDS],
  references: ['id', 'source', 'external_id', 'url', 'description', 'type'],
};

/** What ATT&CK knows, from the data that the product comes with (rest-api.md 6.17). */
export function mitreRoutes(catalogue: AttackCatalogue): OperationHandlers {
  const kept = new KeptBytes();

  /** @param ids of the objects wanted; absent for all */
  function list(kind: keyof typeof LISTS, query: ListQuery, ids?: readonly string[]): ApiResult {
    const items: readonly Identified[] = kind === 'references' ? catalogue.references() : catalogue.items(kind);
    const fields = LISTS[kind];
    const page = pageOf(withIds(items, ids), query, {
      sortFields: fields,
      selectFields: fields,
      mandatoryFields: ['id'],
    });
    const name = kind === 'tactics' ? 'tactics' : `MITRE ${kind}`;
    const messages = {
      all: `${kind === 'tactics' ? 'All ' : ''}${name} information was returned`,
      some: '-',
      none: `No ${name} information was returned`,
    };
    return listResult({ ...page, messages, kept });
  }

  return {
    getMitreMetadata: () => {
      const items = catalogue.metadata();
      const messages = {
        all: 'MITRE metadata information was returned',
        some: '-',
        none: 'No MITRE metadata information was returned',
      };
      return listResult({ items, total: items.length, messages });
    },
    getMitreTactics: ({ parameters }) => list('tactics', parameters, parameters.tactic_ids),
    getMitreTechniques: ({ parameters }) => list('techniques', parameters, parameters.technique_ids),
    getMitreGroups: ({ parameters }) => list('groups', parameters, parameters.group_ids),
    getMitreMitigations: ({ parameters }) => list('mitigations', parameters, parameters.mitigation_ids),
    getMitreSoftware: ({ parameters }) => list('software', parameters, parameters.software_ids),
    getMitreReferences: ({ parameters }) => list('references', parameters, parameters.reference_ids),
  };
}

type Identified = { readonly id: string };

/** Items with one of the ids, whatever the case; `all` wants every one (rest-api.md 4.6). Unknown ids are no failure. */
function withIds(items: readonly Identified[], ids: readonly string[] | undefined): readonly Identified[] {
  if (ids === undefined || ids.includes('all')) return items;
  const wanted = new Set(ids.map((id) => id.toLowerCase()));
  return items.filter(({ id }) => wanted.has(id.toLowerCase()));
}
