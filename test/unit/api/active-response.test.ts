import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { BusError } from '../../../lib/bus/bus-error.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import type { RequestServer } from '../../../lib/bus/request-server.js';
import type { ApiList } from '../../support/api/api-list.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { ResponseChecker } from '../../support/api/response-checker.js';
import { TestApi } from '../../support/api/test-api.js';
import { serveContract } from '../../support/bus/serve-contract.js';
import { DbServer } from '../../support/db/db-server.js';

const USER = { name: 'someone', password: 'Other-42-password' };
const AR_CONF = 'restart-wazuh0 - restart-wazuh - 0\nhost-deny600 - host-deny - 600\n';
const AGENTS = [
  { version: 'Wazuh v4.14.7' },
  { version: 'Wazuh v4.1.5' },
  { version: 'OSSEC HIDS v4.2.0' },
  { version: 'Wazuh v4.14.7', status: 'disconnected' as const },
  { version: 'Wazuh v4.14.7' },
];

describe('active responses over the API', () => {
  const api = new TestApi();
  let db: DbServer;
  let remoted: RequestServer<typeof remotedContract>;
  /** What agents were sent, and what they were asked. */
  let sent: string[] = [];
  let asked: string[] = [];
  let answers: Record<string, string> = {};
  let gone: readonly string[] = [];
  const checker = new ResponseChecker();

  before(async () => {
    await api.start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    db = await DbServer.start(api.home, () => api.now);
    await db.registry.edit((edit) => {
      for (const [index, agent] of AGENTS.entries()) {
        edit.setAgent(index + 1, {
          ...{ name: `box${index + 1}`, registerIP: 'any', dateAdd: 1, groups: ['default'], nodeName: 'node01' },
          ...{ status: 'active', statusCode: 0, disconnectionTime: 0 },
          ...agent,
        });
      }
    });
    mkdirSync(api.home.path('etc', 'shared'), { recursive: true });
    writeFileSync(api.home.path('etc', 'shared', 'ar.conf'), AR_CONF);
    remoted = await serveContract(api.home, remotedContract, {
      'agents.send': ({ ids, message }: { ids: string[]; message: string }) => {
        if (message.length > 20_000) throw new BusError('bad_message', 'the message is too long');
        sent.push(...ids.filter((id) => !gone.includes(id)).map((id) => `${id} ${message}`));
        const failed = gone.filter((id) => ids.includes(id)).map((id) => ({ id, code: 'disconnected', message: '-' }));
        return { sent: ids.length - failed.length, failed };
      },
      'agents.request': ({ id, target, payload }: { id: string; target: string; payload: string }) => {
        asked.push(`${id} ${target} ${payload}`);
        const answer = answers[id];
        if (answer === undefined) throw new BusError('timeout', 'the agent did not answer');
        return { answer };
      },
    });
  });
  beforeEach(() => {
    [sent, asked, gone] = [[], [], []];
    answers = Object.fromEntries(['001', '002', '005'].map((id) => [id, enabled('no')]));
  });
  after(async () => {
    await remoted.stop();
    await api.stop();
    await db.stop();
    await api.remove();
  });

  const enabled = (disabled: string) => `ok {"active-response":{"disabled":"${disabled}","repeated_offenders":[]}}`;
  const respond = async (query: string, body: object, user?: typeof USER) => {
    const headers = user && { authorization: `Bearer ${await api.login(user.name, user.password)}` };
    const answer = await api.call('PUT', `/active-response${query}`, body, headers);
    if (answer.status === 200) checker.check('PUT', '/active-response', answer);
    const parsed = answer.json() as ApiList & { error: number; message: string; detail: string };
    return { status: answer.status, ...parsed };
  };
  const outcome = ({ data, message }: Awaited<ReturnType<typeof respond>>) => ({
    items: data.affected_items,
    failed: data.failed_items.map(({ error, id }) => [error.code, ...id]),
    message,
  });
  const json = (command: string, extraArgs: string[], alert: object) =>
    `execd ${JSON.stringify({
      version: 1,
      origin: { name: 'node01', module: 'api' },
      command,
      parameters: { extra_args: extraArgs, alert },
    })}`;

  it('go to each agent in the form its version takes', async () => {
    const alert = { data: { srcip: '203.0.113.9' } };
    const body = { command: 'host-deny600', arguments: ['-x', 'a;b'], alert };
    expect(outcome(await respond('?agents_list=001,002,003', body))).to.deep.equal({
      items: ['001', '002', '003'],
      failed: [],
      message: 'AR command was sent to all agents',
    });
    expect(sent.sort()).to.deep.equal([
      `001 ${json('host-deny600', ['-x', 'a;b'], alert)}`,
      String.raw`002 execd host-deny600 -x a\;b`,
      String.raw`003 execd host-deny600 -x a\;b`,
    ]);
    // Agents of OSSEC-HIDS know no questions.
    expect(asked.sort()).to.deep.equal(['001 com getconfig active-response', '002 com getconfig active-response']);
  });

  it('may name a program of the agent, with nothing else', async () => {
    await respond('?agents_list=001,002', { command: '!my-script.sh' });
    expect(sent.sort()).to.deep.equal([`001 ${json('!my-script.sh', [], {})}`, '002 execd !my-script.sh - -']);
  });

  it('fail for agents that are not there, are away, or do not want them, and skip the manager', async () => {
    answers['002'] = enabled('yes');
    gone = ['003'];
    const answer = await respond('?agents_list=000,001,002,003,004,099', { command: 'host-deny600' });
    expect(outcome(answer)).to.deep.equal({
      items: ['001'],
      failed: [
        [1701, '099'],
        [1707, '003', '004'],
        [1750, '002'],
      ],
      message: 'AR command was not sent to some agents',
    });
    expect(answer.error).to.equal(2);
    expect(sent).to.have.length(1);
  });

  it('fail when the configuration has no such response, after all that concerns the agent itself', async () => {
    answers['002'] = enabled('yes');
    expect(outcome(await respond('?agents_list=001,002,004', { command: 'host-deny' }))).to.deep.equal({
      items: [],
      failed: [
        [1652, '001'],
        [1707, '004'],
        [1750, '002'],
      ],
      message: 'AR command was not sent to any agent',
    });
    expect(sent).to.deep.equal([]);
  });

  it('go to all active agents, silent about the others, and to those that cannot be asked', async () => {
    answers['005'] = enabled('yes');
    delete answers['001'];
    answers['002'] = 'err Unrecognized command';
    expect(outcome(await respond('', { command: 'restart-wazuh0' }))).to.deep.equal({
      items: ['001', '002', '003'],
      failed: [],
      message: 'AR command was sent to all agents',
    });
  });

  it('are refused without a command, by another form of name, and when the alert is too long', async () => {
    for (const body of [{}, { command: '' }, { command: '!../x' }, { command: 'a b' }, { command: 'x', alert: 7 }]) {
      expect((await respond('?agents_list=001', body)).status, JSON.stringify(body)).to.equal(400);
    }
    const alert = { data: { note: 'x'.repeat(30_000) } };
    const answer = await respond('?agents_list=001', { command: 'host-deny600', alert });
    expect([answer.status, answer.detail]).to.deep.equal([400, 'the message is too long']);
    expect(sent).to.deep.equal([]);
  });

  it('are for those who may', async () => {
    await addUser(api, USER, [policy('allow', 'active-response:command', 'agent:id:001')]);
    expect(outcome(await respond('?agents_list=001,002', { command: 'host-deny600' }, USER))).to.deep.include({
      items: ['001'],
      failed: [[4000, '002']],
    });
    expect((await respond('?agents_list=002', { command: 'host-deny600' }, USER)).status).to.equal(403);
    expect(outcome(await respond('', { command: 'host-deny600' }, USER)).items).to.deep.equal(['001']);
    expect(sent.map((text) => text.slice(0, 3))).to.deep.equal(['001', '001']);
  });
});
