import { expect } from 'chai';
import { loadContract, type Operation } from '../../../lib/contract/api-contract.js';
import { specifiedOperations } from '../../support/api/specified-operations.js';

describe('operations of the specification', () => {
  const specified = specifiedOperations();
  const { operations, document } = loadContract();
  const nameOf = ({ method, path }: Operation) => `${method} ${path}`;
  const byName = new Map(operations.map((operation) => [nameOf(operation), operation]));
  const definitions = document['paths'] as Record<string, Record<string, Record<string, unknown>>>;

  it('are all in the contract, and no others', () => {
    expect(specified).to.have.length(195);
    const missing = specified.map(({ name }) => name).filter((name) => !byName.has(name));
    expect(missing).to.deep.equal([]);
    const names = new Set(specified.map(({ name }) => name));
    expect([...byName.keys()].filter((name) => !names.has(name))).to.deep.equal([]);
  });

  it('need the actions that the specification names', () => {
    const compared = specified.filter(({ name, actions }) => actions !== undefined && byName.has(name));
    expect(compared.length).to.be.greaterThan(120);
    for (const { name, actions } of compared) {
      expect(byName.get(name)!.actions, name).to.have.members(actions!);
    }
  });

  it('have their priority, and say when they are deprecated', () => {
    for (const { name, priority, deprecated } of specified) {
      const operation = byName.get(name);
      if (operation === undefined || priority === undefined) continue;
      const definition = definitions[operation.path]![operation.method.toLowerCase()]!;
      expect(definition['x-priority'], name).to.equal(priority);
      expect(operation.deprecated, name).to.equal(deprecated);
    }
  });

  it('about a node take what their twins about the manager take, and the node', () => {
    const twins = operations.filter(({ path }) => path.startsWith('/cluster/{node_id}/'));
    expect(twins).to.have.length(14);
    for (const twin of twins) {
      const manager = byName.get(`${twin.method} ${twin.path.replace('/cluster/{node_id}', '/manager')}`)!;
      const own = twin.parameters.filter(({ name }) => name !== 'node_id');
      // rest-api.md 6.15: the configuration of a node is read without `distinct`.
      const isRead = twin.id === 'getClusterNodeIdConfiguration';
      const expected = manager.parameters.filter(({ name }) => !(isRead && name === 'distinct'));
      expect(own, twin.id).to.deep.equal(expected);
      expect(twin.body, twin.id).to.deep.equal(manager.body);
    }
  });
});
