// Writes api/mitre/attack-objects.json, what /mitre/* answers from: node .ci/attack-objects.mjs [SOURCE]
// SOURCE is attack-full.json.gz of the shared data: objects of ATT&CK with their relations, without descriptions.
// One object a line; what follows from something else (urls of objects, the other direction of relations) is left out.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { root } from './phases.mjs';

const OBJECTS = 'api/mitre/attack-objects.json';
/** A copy of ATT&CK has to carry this. */
const LICENCE =
  'The MITRE Corporation (MITRE) hereby grants you a non-exclusive, royalty-free license to use ATT&CK(R) for research, ' +
  'development, and commercial purposes. Any copy you make for such purposes is authorized provided that you reproduce ' +
  "MITRE's copyright designation and this license in any such copy.";
const KINDS = ['tactics', 'techniques', 'groups', 'mitigations', 'software'];

const shared = process.env.SVC_SHARED_DATA ?? join(root, '..', 'shared', 'data');
const source = JSON.parse(gunzipSync(readFileSync(process.argv[2] ?? join(shared, 'attack-full.json.gz'))).toString());

const byId = new Map();
for (const kind of KINDS) for (const object of source[kind]) byId.set(object.id, { kind, object });
const tactics = new Map(source.tactics.map((tactic) => [tactic.short_name, tactic.external_id]));
const related = new Map([...byId.keys()].map((id) => [id, new Map()]));
for (const [from, relation, to] of source.relations) {
  const name = { 'revoked-by': 'revoked_by', 'subtechnique-of': 'subtechnique_of' }[relation] ?? byId.get(to).kind;
  const known = related.get(from).get(name) ?? [];
  related.get(from).set(name, [...known, byId.get(to).object.external_id].sort());
}

/** Place of each source and url in the list of references: many objects cite the same. */
const places = new Map();
function place({ source: name, url }) {
  const key = JSON.stringify([name, url]);
  if (!places.has(key)) places.set(key, places.size);
  return places.get(key);
}

function line({ external_id, id, name, created_time, modified_time, mitre_version, short_name, ...object }) {
  const relations = related.get(id);
  return JSON.stringify({
    external_id,
    id,
    name,
    short_name,
    created_time,
    modified_time,
    mitre_version,
    deprecated: object.deprecated,
    remote_support: object.remote_support,
    revoked_by: relations.get('revoked_by')?.[0],
    subtechnique_of: relations.get('subtechnique_of')?.[0],
    tactics: object.tactic_short_names?.map((each) => tactics.get(each)),
    techniques: relations.get('techniques'),
    software: relations.get('software'),
    references: object.references?.map(place),
  });
}

const lists = KINDS.map((kind) => `"${kind}":[\n${source[kind].map(line).join(',\n')}\n]`);
const [version] = /\b\d+\.\w+/.exec(source.source);
const text = `{"source":${JSON.stringify(source.source)},
"licence":${JSON.stringify(LICENCE)},
"version":${JSON.stringify(version)},
"references":[
${[...places.keys()].join(',\n')}
],
${lists.join(',\n')}}
`;
writeFileSync(join(root, OBJECTS), text);
