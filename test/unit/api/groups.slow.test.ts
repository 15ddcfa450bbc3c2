import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { buildMergedFile } from '../../../lib/agentlink/merged-file.js';
import type { HttpMethod } from '../../../lib/contract/api-contract.js';
import { ListCaller } from '../../support/api/api-list.js';
import { TestApi } from '../../support/api/test-api.js';
import { DbServer } from '../../support/db/db-server.js';
import { sampleAgent } from '../../support/db/sample-agents.js';

const CONFIGURATION = '/groups/{group_id}/configuration';
const VALIDATION = '/groups/{group_id}/configuration/validation';
const FILES = '/groups/{group_id}/files';
const FILE = '/groups/{group_id}/files/{file_name}';
const AGENTS = '/groups/{group_id}/agents';
const XML = { 'content-type': 'application/xml' };

type CheckAnswer = {
  readonly data: { status: string; problems: { code: number; line: number; message: string }[]; content?: string };
  readonly message: string;
  readonly error: number;
};
const TEMPLATE = '<agent_config>\n  <!-- template -->\n</agent_config>\n';
const hash = (text: string, algorithm = 'md5') => createHash(algorithm).update(text).digest('hex');

describe('groups over the API', () => {
  let api: TestApi;
  let db: DbServer;
  let lists: ListCaller;
  const shared = (path: string) => api.home.path('etc/shared', path);
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(shared(path)), { recursive: true });
    writeFileSync(shared(path), content);
  };

  beforeEach(async () => {
    api = new TestApi();
    await api.start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    db = await DbServer.start(api.home, () => api.now);
    lists = new ListCaller(api);
    write('default/agent.conf', TEMPLATE);
    write('agent-template.conf', TEMPLATE);
  });
  afterEach(async () => {
    await api.stop();
    await db.stop();
    await api.remove();
  });

  const register = async (count: number, groups: string[]) => {
    const first = db.registry.agents.byId().length;
    await db.registry.edit((edit) => {
      for (let id = first; id < first + count; id += 1) {
        edit.setAgent(id, { ...sampleAgent(id).record, groups, status: 'never_connected' });
      }
    });
  };
  const answerOf = async (
    method: HttpMethod,
    path: string,
    template: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const answer = await api.call(method, path, body, headers);
    lists.checker.check(method, template, answer);
    return answer;
  };
  /** Status, code and detail of a refusal. */
  const refusal = async (...call: Parameters<typeof answerOf>) => {
    const answer = await answerOf(...call);
    expect(answer.headers['content-type'], answer.text).to.match(/^application\/problem\+json/);
    const { error, detail } = answer.json() as { error: number; detail: string };
    return [answer.status, error, detail];
  };
  const create = (group: unknown) => answerOf('POST', '/groups', '/groups', { group_id: group });
  const names = async (query = '') =>
    (await lists.get(`/groups${query}`)).data.affected_items.map(({ name }) => name as string);
  const failures = ({ data }: Awaited<ReturnType<ListCaller['get']>>) =>
    data.failed_items.map(({ error, id }) => [error.code, ...id]);
  const groupsOf = (id: number) => db.registry.agents.get(id)!.record.groups;

  describe('lists', () => {
    beforeEach(async () => {
      write('web/agent.conf', 'w');
      write('web/merged.mg', 'merged');
      write('Db/agent.conf', 'd');
      mkdirSync(shared('empty'));
      await db.groups('web', 'Db');
      await register(3, ['web', 'Db']);
      await register(1, ['default']);
    });

    it('show every folder with members and sums, by name', async () => {
      const answer = await lists.get('/groups');
      expect(answer).to.include({ message: 'All selected groups information was returned', error: 0 });
      expect(answer.data.affected_items).to.deep.equal([
        { name: 'Db', count: 3, configSum: hash('d') },
        { name: 'default', count: 1, configSum: hash(TEMPLATE) },
        // A folder that svc-db has not heard of.
        { name: 'empty', count: 0 },
        { name: 'web', count: 3, mergedSum: hash('merged'), configSum: hash('w') },
      ]);
    });

    it('show the sums of now', async () => {
      const sums = async () => (await lists.get('/groups?groups_list=web')).data.affected_items[0];
      expect(await sums()).to.deep.include({ configSum: hash('w') });
      write('web/agent.conf', 'other');
      rmSync(shared('web/merged.mg'));
      expect(await sums()).to.deep.equal({ name: 'web', count: 3, configSum: hash('other') });
      rmSync(shared('web/agent.conf'));
      symlinkSync(shared('agent-template.conf'), shared('web/agent.conf'));
      expect(await sums()).to.deep.equal({ name: 'web', count: 3 });
    });

    it('sum with the algorithm asked for', async () => {
      for (const [name, method] of [
        ['SHA256', 'sha256'],
        ['sha3_512', 'sha3-512'],
        ['blake2s', 'blake2s256'],
        ['md5', 'md5'],
      ] as const) {
        const answer = await lists.get(`/groups?groups_list=web&hash=${name}`);
        expect(answer.data.affected_items[0]).to.include({
          configSum: hash('w', method),
          mergedSum: hash('merged', method),
        });
      }
      expect((await api.call('GET', '/groups?hash=crc32')).status).to.equal(400);
    });

    it('take the common parameters', async () => {
      const sum = hash('w');
      for (const [query, expected] of [
        ['?sort=-name', ['web', 'empty', 'default', 'Db']],
        ['?sort=-count,name', ['web', 'Db', 'default', 'empty']],
        ['?sort=configSum&offset=3', ['empty']],
        ['?search=WE', ['web']],
        [`?search=${sum.slice(3, 20)}`, ['web']],
        ['?search=-WEB', ['Db', 'default', 'empty']],
        [`?q=configSum=${sum}`, ['web']],
        ['?q=count>0;name!=web', ['Db', 'default']],
        ['?q=name=web,name=Db', ['Db', 'web']],
        ['?offset=1&limit=2', ['default', 'empty']],
        ['?groups_list=web,Db,web', ['Db', 'web']],
        ['?groups_list=web,Db&sort=-name&limit=1', ['web']],
      ] as const) {
        expect(await names(query), query).to.deep.equal(expected);
      }
      const all = await lists.get('/groups?offset=1&limit=1');
      expect(all.data.total_affected_items).to.equal(4);
      expect((await lists.get('/groups?select=count&distinct=true')).data.affected_items).to.deep.equal([
        { count: 3 },
        { count: 1 },
        { count: 0 },
      ]);
      expect((await lists.get('/groups?select=mergedSum,name&limit=1')).data.affected_items).to.deep.equal([
        { name: 'Db' },
      ]);
      for (const [query, code] of [
        ['?sort=nothing', 1403],
        ['?select=nothing', 1724],
        ['?q=name', 1407],
      ] as const) {
        expect((await refusal('GET', `/groups${query}`, '/groups')).slice(0, 2), query).to.deep.equal([400, code]);
      }
    });

    it('name groups that do not exist', async () => {
      const some = await lists.get('/groups?groups_list=nobody,web,other');
      expect(some).to.include({ message: 'Some groups information was not returned', error: 2 });
      expect(failures(some)).to.deep.equal([[1710, 'nobody', 'other']]);
      const none = await lists.get('/groups?groups_list=nobody');
      expect(none).to.include({ message: 'No group information was returned', error: 1 });
      expect((await api.call('GET', '/groups?groups_list=..')).status).to.equal(400);
      expect((await api.call('GET', '/groups?groups_list=all')).status).to.equal(400);
    });

    it('show the same in the overview', async () => {
      const { data } = (await api.call('GET', '/overview/agents')).json() as { data: { groups: unknown } };
      expect(data.groups).to.deep.equal((await lists.get('/groups')).data.affected_items);
    });

    it('show the agents of a group', async () => {
      const answer = await lists.get('/groups/web/agents?select=id,group&sort=-id&limit=2', AGENTS);
      expect(answer).to.include({ message: 'All selected agents information was returned', error: 0 });
      expect(answer.data).to.deep.include({
        affected_items: [
          { id: '003', group: ['web', 'Db'] },
          { id: '002', group: ['web', 'Db'] },
        ],
        total_affected_items: 3,
      });
      expect((await lists.get('/groups/web/agents?status=active', AGENTS)).data.total_affected_items).to.equal(0);
      expect((await lists.get('/groups/empty/agents', AGENTS)).message).to.equal('No agent information was returned');
      expect((await refusal('GET', '/groups/nobody/agents', AGENTS)).slice(0, 2)).to.deep.equal([404, 1710]);
    });
  });

  describe('creation and removal', () => {
    it('make a folder that is a group at once', async () => {
      expect((await create('web')).json()).to.deep.equal({ message: "Group 'web' created.", error: 0 });
      expect(readFileSync(shared('web/agent.conf'), 'utf8')).to.equal(TEMPLATE);
      expect(statSync(shared('web')).mode & 0o777).to.equal(0o770);
      expect(await names()).to.deep.equal(['default', 'web']);
      expect(db.registry.groups.has('web')).to.equal(true);
      await register(1, ['default']);
      const put = await lists.call('PUT', '/agents/001/group/web', { template: '/agents/{agent_id}/group/{group_id}' });
      expect(put.data.affected_items).to.deep.equal(['001']);
      expect(groupsOf(1)).to.deep.equal(['default', 'web']);
    });

    it('refuse what is there or no name', async () => {
      await create('web');
      mkdirSync(shared('made'));
      write('plain', 'x');
      const refused = (group: unknown) => refusal('POST', '/groups', '/groups', { group_id: group });
      expect(await refused('web')).to.deep.equal([400, 1711, 'The group already exists: web']);
      expect(await refused('made')).to.deep.equal([400, 1711, 'The group already exists: made']);
      expect(await refused('default')).to.deep.equal([400, 1711, 'The group already exists: default']);
      expect(await refused('plain')).to.deep.equal([
        400,
        1713,
        'Invalid group ID. Some IDs are restricted for internal purposes',
      ]);
      expect((await refused('.web')).slice(0, 2)).to.deep.equal([400, 1713]);
      for (const bad of ['..', '.', 'all', 'a/b', '', 'ü', 'a'.repeat(129), 5, null, ['a']]) {
        expect((await create(bad)).status, String(bad)).to.equal(400);
      }
      expect((await create('a'.repeat(128))).status).to.equal(200);
      const extra = await api.call('POST', '/groups', { group_id: 'x', other: 1 });
      expect([extra.status, existsSync(shared('x'))]).to.deep.equal([400, false]);
      expect((await api.call('POST', '/groups', '{"group_id":"x"}', { 'content-type': 'text/plain' })).status).to.equal(
        415,
      );
    });

    it('go on when svc-remoted saw the folder first, and when svc-db still knows a folder that is gone', async () => {
      await db.groups('web');
      expect((await create('web')).status).to.equal(200);
      rmSync(shared('web'), { recursive: true });
      const removed = await lists.call('DELETE', '/groups?groups_list=web');
      expect(removed.data.affected_items).to.deep.equal(['web']);
      expect(await names()).to.deep.equal(['default']);
    });

    it('leave nothing behind when svc-db does not answer', async () => {
      await db.stop();
      expect((await refusal('POST', '/groups', '/groups', { group_id: 'web' })).slice(0, 2)).to.deep.equal([500, 1017]);
      expect(readdirSync(shared('.')).sort()).to.deep.equal(['agent-template.conf', 'default']);
      expect((await refusal('GET', '/groups', '/groups')).slice(0, 2)).to.deep.equal([500, 1017]);
      db = await DbServer.start(api.home, () => api.now);
    });

    it('delete folders; their agents lose the group', async () => {
      for (const group of ['web', 'db', 'mail']) await create(group);
      write('mail/deep/er/file', 'x');
      await register(1, ['web', 'db']);
      await register(1, ['web']);
      const some = await lists.call('DELETE', '/groups?groups_list=web,default,nobody,mail');
      expect(some).to.include({ message: 'Some groups were not deleted', error: 2 });
      expect(some.data.affected_items).to.deep.equal(['mail', 'web']);
      expect(failures(some)).to.deep.equal([
        [1710, 'nobody'],
        [1712, 'default'],
      ]);
      expect([groupsOf(1), groupsOf(2)]).to.deep.equal([['db'], ['default']]);
      expect(readdirSync(shared('.')).sort()).to.deep.equal(['agent-template.conf', 'db', 'default']);
      const none = await lists.call('DELETE', '/groups?groups_list=web');
      expect(none).to.include({ message: 'No group was deleted', error: 1 });
    });

    it('delete all but default, and say nothing of default', async () => {
      for (const group of ['web', 'db']) await create(group);
      const all = await lists.call('DELETE', '/groups?groups_list=all');
      expect(all).to.include({ message: 'All selected groups were deleted', error: 0 });
      expect(all.data.affected_items).to.deep.equal(['db', 'web']);
      const none = await lists.call('DELETE', '/groups?groups_list=all');
      expect(none).to.include({ message: 'No group was deleted', error: 0 });
      expect(await names()).to.deep.equal(['default']);
      expect((await refusal('DELETE', '/groups', '/groups'))[2]).to.equal("Missing query parameter 'groups_list'");
    });

    it('make one of many that ask at once', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => create('web')));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, ...Array<number>(7).fill(400)]);
    });
  });

  describe('agents in folders that svc-db has not heard of', () => {
    beforeEach(async () => {
      mkdirSync(shared('fresh'));
      await register(2, ['default']);
    });

    it('can be put in and taken out', async () => {
      const path = '/agents/group';
      const put = await lists.call('PUT', `${path}?group_id=fresh&agents_list=001,002`);
      expect(put.data.affected_items).to.deep.equal(['001', '002']);
      const removed = await lists.call('DELETE', `${path}?group_id=fresh&agents_list=001`);
      expect(removed.data.affected_items).to.deep.equal(['001']);
      expect([groupsOf(1), groupsOf(2)]).to.deep.equal([['default'], ['default', 'fresh']]);
    });

    it('fail for the right reason', async () => {
      const one = '/agents/{agent_id}/group/{group_id}';
      expect((await refusal('DELETE', '/agents/001/group/fresh', one)).slice(0, 2)).to.deep.equal([400, 1734]);
      expect((await refusal('DELETE', '/agents/001/group/nobody', one)).slice(0, 2)).to.deep.equal([404, 1710]);
      const several = await lists.call('DELETE', '/agents/001/group?groups_list=nobody,other-one', {
        template: '/agents/{agent_id}/group',
      });
      expect(failures(several)).to.deep.equal([[1710, 'nobody', 'other-one']]);
      mkdirSync(shared('other-one'));
      const member = await lists.call('DELETE', '/agents/001/group?groups_list=nobody,other-one', {
        template: '/agents/{agent_id}/group',
      });
      expect(failures(member)).to.deep.equal([
        [1710, 'nobody'],
        [1734, 'other-one'],
      ]);
    });

    it('are restarted, which is none', async () => {
      const template = '/agents/group/{group_id}/restart';
      const restarted = await lists.call('PUT', '/agents/group/fresh/restart', { template });
      expect(restarted).to.include({ message: 'Restart command was not sent to any agent', error: 0 });
      expect((await refusal('PUT', '/agents/group/nobody/restart', template)).slice(0, 2)).to.deep.equal([404, 1710]);
    });

    it('are in 128 groups at most', async () => {
      const many = Array.from({ length: 127 }, (_none, index) => `g${index}`);
      await db.groups(...many);
      await db.registry.edit((edit) =>
        edit.setAgent(1, { ...db.registry.agents.get(1)!.record, groups: ['default', ...many] }),
      );
      const put = await lists.call('PUT', '/agents/group?group_id=fresh&agents_list=001,002');
      expect(put).to.include({ message: 'Some agents were not assigned to fresh', error: 2 });
      expect(failures(put)).to.deep.equal([[1737, '001']]);
    });
  });

  it('give the status of the shared configuration with the id', async () => {
    await register(1, ['default']);
    const { data } = await lists.get('/agents?agents_list=001&select=group_config_status');
    expect(Object.keys(data.affected_items[0]!).sort()).to.deep.equal(['group_config_status', 'id']);
    expect(data.affected_items[0]!['group_config_status']).to.be.oneOf(['synced', 'not synced']);
  });

  describe('configuration', () => {
    const put = (body: string | Buffer, headers: Record<string, string> = XML, group = 'default') =>
      answerOf('PUT', `/groups/${group}/configuration`, CONFIGURATION, body, headers);
    const refused = async (body: string | Buffer, headers?: Record<string, string>, group?: string) => {
      const answer = await put(body, headers, group);
      const { error, detail } = answer.json() as { error: number; detail: string };
      return [answer.status, error, detail] as const;
    };

    it('is shown block by block', async () => {
      write(
        'default/agent.conf',
        `<agent_config><syscheck><directories>/a,/b</directories></syscheck></agent_config>
         <agent_config os="Linux" name="x"><labels><label key="k">v</label></labels></agent_config>
         <agent_config><syscheck><directories check_all="yes">/c</directories><disabled>no</disabled></syscheck></agent_config>`,
      );
      const answer = await answerOf('GET', '/groups/default/configuration', CONFIGURATION);
      expect(answer.json()).to.deep.equal({
        data: {
          total_affected_items: 2,
          affected_items: [
            {
              filters: {},
              config: {
                syscheck: {
                  directories: [{ path: '/a' }, { path: '/b' }, { check_all: 'yes', path: '/c' }],
                  disabled: 'no',
                },
              },
            },
            { filters: { os: 'Linux', name: 'x' }, config: { labels: [{ label: [{ value: 'v', key: 'k' }] }] } },
          ],
        },
        error: 0,
      });
      const page = await answerOf('GET', '/groups/default/configuration?offset=1&limit=1', CONFIGURATION);
      const { data } = page.json() as { data: { total_affected_items: number; affected_items: { filters: object }[] } };
      expect(data.total_affected_items).to.equal(2);
      expect(data.affected_items.map(({ filters }) => filters)).to.deep.equal([{ os: 'Linux', name: 'x' }]);
    });

    it('is refused where there is none, or none that can be read', async () => {
      const get = (group: string) => refusal('GET', `/groups/${group}/configuration`, CONFIGURATION);
      expect((await get('nobody')).slice(0, 2)).to.deep.equal([404, 1710]);
      mkdirSync(shared('empty'));
      expect((await get('empty')).slice(0, 2)).to.deep.equal([400, 1006]);
      write('empty/agent.conf', '<agent_config>\n<a>\n</agent_config>');
      const [status, code, detail] = await get('empty');
      expect([status, code]).to.deep.equal([400, 1101]);
      expect(detail).to.match(/\(line 3\)/);
    });

    it('is replaced, laid out', async () => {
      const answer = await put(
        '<agent_config os="Linux"><!-- c --><labels><label key="k">v</label></labels></agent_config>',
      );
      expect(answer.json()).to.deep.equal({ message: 'Agent configuration was successfully updated', error: 0 });
      expect(readFileSync(shared('default/agent.conf'), 'utf8')).to.equal(
        '<agent_config os="Linux">\n  <!-- c -->\n  <labels>\n    <label key="k">v</label>\n  </labels>\n</agent_config>\n',
      );
      expect(statSync(shared('default/agent.conf')).mode & 0o777).to.equal(0o660);
      expect(readdirSync(shared('default'))).to.deep.equal(['agent.conf']);
    });

    it('stays as it is when the new one is refused', async () => {
      const [status, code, detail] = await refused('<agent_config>\n<labels>\n</agent_config>');
      expect([status, code]).to.deep.equal([400, 1113]);
      expect(detail).to.match(/^XML syntax error: .*default\/agent\.conf.*line 3/);
      const [, wrong, text] = await refused(
        '<agent_config><syscheck><frequency>often</frequency></syscheck></agent_config>',
      );
      expect(wrong).to.equal(1114);
      expect(text).to.match(/^Wazuh syntax error: \(1235\).*\(1207\): Syscheck remote configuration/);
      expect((await refused('<agent_config><nothing/></agent_config>'))[1]).to.equal(1114);
      expect((await refused('<other/>'))[1]).to.equal(1114);
      expect((await refused(`<agent_config>${' '.repeat(4 * 1024 * 1024)}</agent_config>`))[1]).to.equal(1114);
      expect((await refused(' \n'))[1]).to.equal(1112);
      expect((await refused(''))[1]).to.equal(1912);
      expect((await refused(Buffer.from([0x3c, 0xff])))[1]).to.equal(1911);
      expect((await refused('<agent_config/>', { 'content-type': 'text/plain' }))[0]).to.equal(415);
      expect((await refused('<agent_config/>', XML, 'nobody')).slice(0, 2)).to.deep.equal([404, 1710]);
      expect(readFileSync(shared('default/agent.conf'), 'utf8')).to.equal(TEMPLATE);
    });

    it('needs its type said', async () => {
      const authorization = `Bearer ${await api.login()}`;
      const answer = await api.request('PUT', '/groups/default/configuration', {
        headers: { authorization },
        body: '<agent_config/>',
      });
      lists.checker.check('PUT', CONFIGURATION, answer);
      expect([answer.status, (answer.json() as { error: number }).error]).to.deep.equal([406, 6002]);
    });

    it('is checked as it would be stored, and is not', async () => {
      const check = async (body: string, group = 'default') => {
        const path = `/groups/${group}/configuration/validation`;
        return (await answerOf('PUT', path, VALIDATION, body, XML)).json() as CheckAnswer;
      };
      const good = await check('<agent_config><remote/><labels><label key="k">v</label></labels></agent_config>');
      expect(good).to.deep.equal({
        data: {
          status: 'OK',
          problems: [],
          warnings: [{ line: 1, message: "Section 'remote' is not taken from the manager; it is ignored." }],
          content:
            '<agent_config>\n  <remote/>\n  <labels>\n    <label key="k">v</label>\n  </labels>\n</agent_config>\n',
        },
        message: 'Agent configuration is valid',
        error: 0,
      });
      for (const [text, code, line, words] of [
        [
          '<agent_config>\n<labels>\n</agent_config>',
          1113,
          2,
          /^\(1226\): .*default\/agent\.conf.*<labels> was opened in line 2/,
        ],
        ['<agent_config>\n<syscheck>\n<frequency>often</frequency></syscheck></agent_config>', 1114, 3, /^\(1235\)/],
        ['<other/>', 1114, 1, /^\(1230\)/],
        [' \n', 1112, 0, /^Empty files are not supported$/],
        [`<agent_config>${' '.repeat(4 * 1024 * 1024)}</agent_config>`, 1114, 0, /larger than 4194304 bytes$/],
      ] as const) {
        const { data, message } = await check(text);
        expect(message).to.equal('Agent configuration is not valid');
        expect(data.status).to.equal('KO');
        expect(data).not.to.have.property('content');
        expect(data.problems.map(({ code: each, line: at }) => [each, at])).to.deep.equal([[code, line]]);
        expect(data.problems[0]?.message).to.match(words);
        expect((await refused(text))[1]).to.equal(code);
      }
      expect(await check('<agent_config/>', 'nobody')).to.include({ error: 1710 });
      expect(await check('')).to.include({ error: 1912 });
      expect(readFileSync(shared('default/agent.conf'), 'utf8')).to.equal(TEMPLATE);
    });

    it('is whole whenever somebody looks, however many write', async () => {
      const text = (index: number) =>
        `<agent_config name="n${index}"><labels><label key="k">${'v'.repeat(9000)}</label></labels></agent_config>`;
      const looks: string[] = [];
      const writing = Promise.all(Array.from({ length: 10 }, (_none, index) => put(text(index))));
      let done = false;
      void writing.finally(() => (done = true));
      while (!done) {
        looks.push(readFileSync(shared('default/agent.conf'), 'utf8'));
        await new Promise(setImmediate);
      }
      expect((await writing).map(({ status }) => status)).to.deep.equal(Array(10).fill(200));
      for (const look of new Set(looks)) {
        expect(look.trimEnd().endsWith('</agent_config>'), look.slice(-40)).to.equal(true);
      }
    });
  });

  describe('files', () => {
    const view = async (name: string, query = '') => {
      const answer = await answerOf('GET', `/groups/web/files/${encodeURIComponent(name)}${query}`, FILE);
      expect(answer.status, answer.text).to.equal(200);
      return (answer.json() as { data: unknown }).data;
    };
    const refusedFile = async (name: string, query = '') =>
      (await refusal('GET', `/groups/web/files/${name}${query}`, FILE)).slice(0, 2);

    beforeEach(() => {
      write('ar.conf', 'restart-ossec0 - restart-ossec.sh - 0\nhost-deny600 - host-deny - 600\n');
      write('web/agent.conf', '<agent_config name="a"><syscheck><disabled>no</disabled></syscheck></agent_config>');
      write('web/rootkit_files.txt', 'tmp/x ! Door ::/rootkits/door.php\n');
      write('web/rootkit_trojans.txt', 'ls !bash|x!\n');
      write('web/cis.txt', '$a=b;\n[Name {CIS: 1.1 X}] [any] [ref]\nf:/x;\n');
      write('web/merged.mg', buildMergedFile('web', [{ name: 'a.txt', content: Buffer.from('ü\n') }]));
      write('web/sub/site.yml', 'x');
    });

    it('are listed with their sums', async () => {
      const answer = await lists.get('/groups/web/files?select=filename', FILES);
      expect(answer).to.include({ message: 'All selected groups files were returned', error: 0 });
      expect(answer.data.affected_items.map(({ filename }) => filename)).to.deep.equal([
        'agent.conf',
        'ar.conf',
        'cis.txt',
        'merged.mg',
        'rootkit_files.txt',
        'rootkit_trojans.txt',
        'sub/site.yml',
      ]);
      const one = await lists.get('/groups/web/files?search=site&hash=sha1', FILES);
      expect(one.data.affected_items).to.deep.equal([{ filename: 'sub/site.yml', hash: hash('x', 'sha1') }]);
      const sorted = await lists.get('/groups/web/files?sort=-filename&limit=1&select=hash', FILES);
      expect(sorted.data.affected_items).to.deep.equal([{ filename: 'sub/site.yml', hash: hash('x') }]);
      const none = await lists.get('/groups/nobody/files', FILES);
      expect(none).to.include({ message: 'No groups files were returned', error: 1 });
      expect(failures(none)).to.deep.equal([[1710, 'nobody']]);
    });

    it('are shown by their names', async () => {
      const blocks = [{ filters: { name: 'a' }, config: { syscheck: { disabled: 'no' } } }];
      expect(await view('agent.conf')).to.deep.equal({ total_affected_items: 1, affected_items: blocks });
      expect(await view('ar.conf')).to.deep.equal([
        'restart-ossec0 - restart-ossec.sh - 0',
        'host-deny600 - host-deny - 600',
      ]);
      expect(await view('merged.mg')).to.deep.equal([{ file_name: 'a.txt', file_size: 3, file_content: 'ü\n' }]);
      expect(await view('rootkit_files.txt')).to.deep.equal([
        { filename: 'tmp/x', name: 'Door', link: '/rootkits/door.php' },
      ]);
      expect(await view('rootkit_trojans.txt')).to.deep.equal([{ filename: 'ls', name: 'bash|x', description: '' }]);
      const controls = [
        { name: 'Name', cis: ['1.1 X'], pci: [], condition: 'any', reference: 'ref', checks: ['f:/x;'] },
      ];
      expect(await view('cis.txt')).to.deep.equal({ vars: { a: 'b;' }, controls });
    });

    it('are shown by the type asked for', async () => {
      write('web/a b+c', 'tmp/x ! Door ::y\n');
      expect(await view('a b+c', '?type=rootkit_files')).to.deep.equal([
        { filename: 'tmp/x', name: 'Door', link: 'y' },
      ]);
      expect(await view('cis.txt', '?type=ROOTKIT_TROJANS')).to.deep.equal([]);
      expect(await view('rootkit_files.txt', '?type=rcl')).to.deep.equal({ vars: {}, controls: [] });
      expect(await view('agent.conf', '?type=conf')).to.have.property('total_affected_items', 1);
      expect(await refusedFile('cis.txt', '?type=other')).to.deep.equal([400, undefined]);
    });

    it('are given as they are', async () => {
      write('web/data.json', '{"a":1}');
      write('web/page.html', '<script>');
      const bytes = Buffer.from([0, 1, 255, 10]);
      write('web/binary', bytes);
      for (const [name, type] of [
        ['agent.conf', 'application/xml; charset=utf-8'],
        ['merged.mg', 'text/plain; charset=utf-8'],
        ['page.html', 'text/plain; charset=utf-8'],
        ['data.json', 'application/json'],
        ['ar.conf', 'text/plain; charset=utf-8'],
      ] as const) {
        const answer = await api.call('GET', `/groups/web/files/${name}?raw=true`);
        expect(answer.headers['content-type'], name).to.equal(type);
        expect(answer.text).to.equal(readFileSync(shared(name === 'ar.conf' ? name : `web/${name}`), 'utf8'));
      }
      const answer = await api.call('GET', '/groups/web/files/binary?raw=true');
      expect(answer.headers['content-length']).to.equal('4');
    });

    it('are refused where they are none or of another form', async () => {
      symlinkSync(api.home.path('etc/home.json'), shared('web/linked'));
      write('web/merged.mg', '!100 x\nshort');
      write('web/broken.conf', '<a>');
      expect(await refusedFile('nothing')).to.deep.equal([400, 1006]);
      expect(await refusedFile('linked', '?raw=true')).to.deep.equal([400, 1006]);
      expect(await refusedFile('sub')).to.deep.equal([400, 1006]);
      expect(await refusedFile('merged.mg')).to.deep.equal([400, 1101]);
      expect(await refusedFile('broken.conf', '?type=conf')).to.deep.equal([400, 1101]);
      write('web/policy.txt', '[a] [b] [c]\n'.repeat(100_000));
      expect(await refusedFile('policy.txt')).to.deep.equal([400, 1006]);
      expect((await api.call('GET', '/groups/web/files/policy.txt?raw=true')).status).to.equal(200);
      expect((await refusal('GET', '/groups/nobody/files/agent.conf', FILE)).slice(0, 2)).to.deep.equal([404, 1710]);
      for (const path of ['/groups/web/files/..%2fdefault%2fagent.conf', '/groups/..%2f..%2fetc/files/home.json']) {
        expect((await api.call('GET', path)).status, path).to.equal(404);
      }
      for (const path of [
        '/groups/web/files/%2e%2e',
        '/groups/%2e%2e/files/home.json',
        '/groups/all/files/agent.conf',
      ]) {
        expect((await api.call('GET', path)).status, path).to.be.oneOf([400, 404]);
      }
    });

    it('answer whatever is in them', async () => {
      const name = fc.constantFrom('agent.conf', 'merged.mg', 'rootkit_files.txt', 'rootkit_trojans.txt', 'policy');
      const piece = fc.constantFrom(
        '<agent_config>',
        '</agent_config>',
        '<a>',
        '!5 a\n',
        '#x\n',
        '[',
        ']',
        '{CIS:',
        '!',
        '::',
        '\n',
        '\0',
      );
      const content = fc.oneof(
        fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
        fc.array(piece, { maxLength: 20 }).map((parts) => Buffer.from(parts.join(''))),
      );
      await fc.assert(
        fc.asyncProperty(name, content, async (file, bytes) => {
          write(`web/${file}`, bytes);
          const answer = await answerOf('GET', `/groups/web/files/${file}`, FILE);
          expect(answer.status, answer.text).to.be.oneOf([200, 400]);
          if (answer.status === 400) expect(answer.json()).to.have.property('error', 1101);
          const raw = await api.call('GET', `/groups/web/files/${file}?raw=true`);
          expect(raw.headers['content-length']).to.equal(String(bytes.length));
        }),
        { numRuns: 80 },
      );
    });
  });
});
