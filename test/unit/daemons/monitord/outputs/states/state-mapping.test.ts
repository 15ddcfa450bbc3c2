import { expect } from 'chai';
import {
  compareMappings,
  type Mapping,
  OLDER_TYPES,
  stateMapping,
  stateTemplate,
} from '../../../../../../daemons/monitord/outputs/states/state-mapping.js';
import { STATE_TABLES } from '../../../../../../daemons/monitord/outputs/states/state-tables.js';
import { INVENTORY_TABLES } from '../../../../../../lib/events/inventory/inventory-tables.js';
import { specifiedFields } from '../../../../../support/monitord/state-specification.js';

function flat(properties: Readonly<Record<string, Mapping>>, path = ''): Record<string, Mapping> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, { properties: inner, ...field }]) =>
      inner === undefined ? [[path + name, field]] : Object.entries(flat(inner, `${path}${name}.`)),
    ),
  );
}

function tableOf(kind: string) {
  const table = STATE_TABLES.find((candidate) => candidate.kind === kind);
  if (table === undefined) throw new Error(`there is no kind ${kind}`);
  return table;
}

describe('Mappings of states', () => {
  const specified = specifiedFields();

  it('are of all thirteen tables', () => {
    expect([...specified.keys()]).to.have.members(STATE_TABLES.map(({ kind }) => kind));
    expect(STATE_TABLES.map(({ table }) => table)).to.have.members(INVENTORY_TABLES.map(({ name }) => name));
  });

  for (const table of STATE_TABLES) {
    it(`have exactly the fields of the specification: ${table.kind}`, () => {
      const mapping = stateMapping(table);
      const types = Object.entries(flat(mapping.properties)).map(([path, { type }]) => [path, type]);
      expect(Object.fromEntries(types)).to.deep.equal(specified.get(table.kind));
      expect(mapping).to.include({ dynamic: 'strict', date_detection: false });
    });
  }

  it('keep long keywords, but for the command line, which is searched whole', () => {
    const processes = flat(stateMapping(tableOf('processes')).properties);
    expect(processes['process.command_line']).to.deep.equal({ type: 'keyword' });
    expect(processes['process.name']).to.deep.equal({ type: 'keyword', ignore_above: 1024 });
    expect(flat(stateMapping(tableOf('hardware')).properties)['host.memory.usage']).to.deep.equal({
      type: 'scaled_float',
      scaling_factor: 100,
    });
  });

  it('fall back to what older servers have', () => {
    const groups = flat(stateMapping(tableOf('groups'), OLDER_TYPES).properties);
    expect([groups['group.description']?.type, groups['group.id']?.type]).to.deep.equal(['text', 'long']);
  });

  it('are in a template for all indices of their kind, whose searched fields exist', () => {
    for (const table of STATE_TABLES) {
      const { index_patterns, priority, template } = stateTemplate(table) as Record<string, Record<string, unknown>>;
      expect([index_patterns, priority]).to.deep.equal([[`wazuh-states-inventory-${table.kind}*`], 1]);
      const { index } = template!['settings'] as { index: Record<string, unknown> };
      expect(index).to.include({ number_of_shards: 1, number_of_replicas: 0, refresh_interval: '2s' });
      const searched = index['query.default_field'] as string[];
      expect(searched).to.include.members(['agent.id', 'wazuh.cluster.name']);
      expect(Object.keys(specified.get(table.kind) ?? {})).to.include.members(searched);
    }
  });

  it('are compared by types: what is missing, and what differs', () => {
    const { properties } = stateMapping(tableOf('groups'));
    expect(compareMappings(properties, structuredClone(properties))).to.deep.equal({ missing: {}, conflicts: [] });
    const older = stateMapping(tableOf('groups'), OLDER_TYPES).properties;
    expect(compareMappings(properties, older)).to.deep.equal({ missing: {}, conflicts: [] });
    const theirs = structuredClone(properties);
    const group = theirs['group']?.properties ?? {};
    delete group['users'];
    group['name'] = { type: 'text' };
    theirs['agent'] = { type: 'keyword' };
    expect(compareMappings(properties, theirs)).to.deep.equal({
      missing: { group: { properties: { users: { type: 'keyword', ignore_above: 1024 } } } },
      conflicts: ['agent', 'group.name'],
    });
    expect(compareMappings(properties, {}).missing).to.deep.equal(properties);
  });
});
