import { mkdirSync, rmSync } from 'node:fs';
import { expect } from 'chai';
import { makeTokenKeyPair } from '../../../../../lib/security/token-keys.js';
import { AccessNode } from '../../../../support/api/access-node.js';
import { FakeCluster } from '../../../../support/cluster/fake-cluster.js';
import { eventually } from '../../../../support/eventually.js';

const { signal } = new AbortController();
const PASSWORD = 'Another-42-word';

describe('users and permissions of a cluster', () => {
  let cluster: FakeCluster;
  let nodes: AccessNode[];

  beforeEach(() => {
    cluster = new FakeCluster();
    nodes = [];
  });
  afterEach(() => Promise.all(nodes.map((node) => node.remove())));

  async function alone(name: string): Promise<AccessNode> {
    const node = new AccessNode(name);
    nodes.push(node);
    await node.start();
    return node;
  }
  async function join(node: AccessNode): Promise<AccessNode> {
    await node.stop();
    node.belongsTo(cluster);
    await node.start();
    await eventually(`${node.name} has joined`, () => node.up.shared?.loaded === true);
    return node;
  }
  const joined = async (name: string) => join(await alone(name));
  const inForce = (node: AccessNode) =>
    eventually('all is in force', () => node.up.shared?.revision === cluster.revision);
  const state = ({ up: { store, settings, keys } }: AccessNode) => ({
    objects: store.objects(),
    committed: store.committed(),
    revocations: [...store.revocations].sort(),
    revision: store.revision,
    numbers: store.numbers,
    settings: settings.current(),
    keys: keys.pem(),
  });
  const said = (node: AccessNode) => node.logger.lines.filter((line) => /^(warn|error)/.test(line)).join('\n');

  it('are those of the first node, to the last token', async () => {
    const one = await alone('one');
    await one.up.users.create('maria', PASSWORD, 1, signal);
    await one.up.roles.create('team');
    await one.up.roles.remove([100]);
    await one.up.decisions.change(() => ({ settings: { tokenLifetimeSeconds: 60 }, result: undefined }));
    const token = one.logIn('maria') ?? '';
    const before = state(one);
    await join(one);
    const after = state(one);
    expect([after.objects, after.settings, after.revision]).to.deep.equal([
      before.objects,
      before.settings,
      before.revision,
    ]);
    expect(one.takes(token)).to.equal(true);
    expect(said(one)).to.equal('');
    const two = await joined('two');
    expect(state(two)).to.deep.equal(after);
    expect(two.takes(token)).to.equal(true);
    expect((await two.up.roles.create('team')).id, 'no id twice').to.equal(101);
  });

  it('give a token at one that is good at the other, until what it rests on ends anywhere', async () => {
    const [one, two] = [await joined('one'), await joined('two')];
    const { id } = await one.up.users.create('maria', PASSWORD, 1, signal);
    const role = await two.up.roles.create('team');
    await one.up.users.link(id, [role.id]);
    const changes: [string, () => Promise<unknown>][] = [
      ['a new password', () => one.up.users.setPassword(id, 'Third-42-word', 1, signal)],
      ['another role', () => two.up.users.link(id, [2])],
      ['a changed role', () => one.up.roles.linkPolicies(role.id, [4])],
      ['a logout', () => two.up.decisions.change(() => ({ revoked: [`user:${id}`], result: undefined }))],
      ['run_as', () => one.up.users.setRunAs(id, true)],
      [
        'the end of all tokens',
        async () => {
          const tokenKeys = await makeTokenKeyPair();
          await two.up.decisions.change(() => ({ tokenKeys, result: undefined }));
        },
      ],
      [
        'settings',
        () => one.up.decisions.change(() => ({ settings: { tokenLifetimeSeconds: 90 }, result: undefined })),
      ],
      ['the end of the user', () => two.up.users.remove([id], 1)],
    ];
    for (const [what, change] of changes) {
      await Promise.all([inForce(one), inForce(two)]);
      const tokens = [one.logIn('maria') ?? '', two.logIn('maria') ?? ''];
      const taken = () => tokens.flatMap((token) => [one.takes(token), two.takes(token)]);
      expect(taken(), `before ${what}`).to.deep.equal([true, true, true, true]);
      await change();
      await Promise.all([inForce(one), inForce(two)]);
      expect(taken(), `after ${what}`).to.deep.equal([false, false, false, false]);
    }
  });

  it('are brought under new ids where the id is taken, with their links; of names the cluster has, its own hold', async () => {
    const one = await joined('one');
    const make = async (node: AccessNode, user: string, policy: string, role: string) => {
      const { users, roles, policies, rules } = node.up;
      const made = await users.create(user, PASSWORD, 1, signal);
      const { id: policyId } = await policies.create(policy, {
        actions: ['agent:read'],
        resources: [`agent:id:${policy.length}`],
        effect: 'allow',
      });
      const { id: ruleId } = await rules.create(`rule-${policy}`, { FIND: { of: policy } });
      const { id: roleId } = await roles.create(role);
      await roles.linkPolicies(roleId, [policyId, 4]);
      await roles.linkRules(roleId, [ruleId]);
      await users.link(made.id, [roleId, 2]);
    };
    await make(one, 'maria', 'policy', 'team');
    const two = await alone('two');
    await make(two, 'maria', 'other', 'team-two');
    await make(two, 'peter', 'third-one', 'team');
    await two.up.users.setRunAs(1, false);
    const old = two.logIn('peter') ?? '';
    await join(two);
    const { store } = two.up;
    expect(store.objects()).to.deep.equal(one.up.store.objects());
    expect(store.users.named('maria'), 'the cluster has her').to.include({ id: 100 });
    expect(store.users.named('peter')).to.deep.include({ id: 101, roles: [100, 2] });
    const teamTwo = store.roles.named('team-two');
    expect(teamTwo?.policies.map((id) => store.policies.get(id)?.name)).to.deep.equal(['other', 'agents_read_agents']);
    expect(teamTwo?.rules.map((id) => store.rules.get(id)?.name)).to.deep.equal(['rule-other']);
    expect(store.users.get(1)?.allowRunAs).to.equal(true);
    expect(two.takes(old)).to.equal(false);
    expect(said(two).split('\n')).to.deep.equal([
      "warn: The passwords and run_as of these users are those of the cluster from now on, not those they had here: user 'admin', user 'wazuh-wui'.",
      "warn: The cluster has others of these names; its own hold, and what is linked to them here is linked to those: role 'team', user 'maria'.",
      "warn: These have other ids in the cluster than they had here: policy 'other' 102 (was 100), " +
        "security rule 'rule-other' 102 (was 100), role 'team-two' 101 (was 100), role 'team' 100 (was 101).",
      "warn: Policies from this manager name agents by their ids: see whether these are the same agents in the cluster: 'other', 'third-one'.",
      'warn: All tokens that this manager has given have ended: the cluster signs with its own key.',
    ]);
  });

  it('go on in a node that is cut off, which changes nothing; it takes over what it has missed', async () => {
    const [one, two] = [await joined('one'), await joined('two')];
    const { id } = await one.up.users.create('maria', PASSWORD, 1, signal);
    await inForce(two);
    const token = two.logIn('maria') ?? '';
    if (two.client !== undefined) two.client.cut = true;
    await one.up.users.setPassword(id, 'Third-42-word', 1, signal);
    expect([one.takes(token), two.takes(token)]).to.deep.equal([false, true]);
    const refusal: unknown = await two.up.roles.create('team').catch((error: unknown) => error);
    expect(refusal).to.include({ name: 'BusError', code: 'cluster_unavailable' });
    expect(two.up.store.roles.named('team')).to.equal(undefined);
    await two.stop();
    await two.start();
    expect(two.takes(token), 'after a start').to.equal(true);
    if (two.client !== undefined) two.client.cut = false;
    await eventually('it has heard', () => !two.takes(token));
    await inForce(two);
    expect(state(two)).to.deep.equal(state(one));
  });

  it('end tokens at a node whose disk takes nothing any more', async () => {
    const [one, two] = [await joined('one'), await joined('two')];
    const { id } = await one.up.users.create('maria', PASSWORD, 1, signal);
    await inForce(two);
    const tokens = [two.logIn('maria') ?? '', two.logIn('admin') ?? ''];
    // Neither the store nor the files can be written.
    await two.up.store.close();
    const security = two.home.path('api', 'configuration', 'security');
    for (const file of ['security.yaml', 'private_key.pem']) {
      rmSync(`${security}/${file}`, { force: true });
      mkdirSync(`${security}/${file}`);
    }
    await one.up.users.setPassword(id, 'Third-42-word', 1, signal);
    await eventually('hers has ended', () => !two.takes(tokens[0] ?? ''));
    expect(two.takes(tokens[1] ?? '')).to.equal(true);
    const tokenKeys = await makeTokenKeyPair();
    const settings = { tokenLifetimeSeconds: 70 };
    await one.up.decisions.change(() => ({ tokenKeys, settings, result: undefined }));
    await eventually('all have ended', () => !two.takes(tokens[1] ?? ''));
    expect(two.takes(one.logIn('admin') ?? '')).to.equal(true);
    expect(said(two)).to.match(/What the cluster has in common is not followed/);
  });

  it('have a key of their own again where a joining node used the same and means other things by it', async () => {
    // As the copy of a machine does.
    const one = await joined('one');
    const two = await alone('two');
    await two.up.decisions.change(() => ({ tokenKeys: one.up.keys.pem(), result: undefined }));
    await one.up.roles.create('harmless');
    await two.up.roles.create('powerful');
    const token = two.logIn('admin', [100]) ?? '';
    expect(two.takes(token)).to.equal(true);
    await join(two);
    await inForce(one);
    expect([one.takes(token), two.takes(token)]).to.deep.equal([false, false]);
    expect(state(two)).to.deep.equal(state(one));
  });
});
