import { expect } from 'chai';
import { ListCaller } from '../../support/api/api-list.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';

const PASSWORD = 'Secret-43-password';
const BRUTE_FORCE = 'attack-pattern--a93494bb-4b80-4ea1-8695-3236a49916fd';
const GUESSING = 'attack-pattern--09c4c11e-4fa1-4f8c-8dad-3cf8e69ad119';
const CREDENTIAL_ACCESS = 'x-mitre-tactic--2558fd61-8c75-4730-94c4-11926db2a263';
const APT28 = 'intrusion-set--bef4c620-0787-42a8-a96d-b7eb6e85917c';

/** Every list, with its filter and messages, a word to search for, and a part of some names (of urls of references). */
const LISTS: {
  path: string;
  filter: string;
  all: string;
  none: string;
  total: number;
  word?: string;
  part?: string;
}[] = [
  {
    path: '/mitre/tactics',
    filter: 'tactic_ids',
    all: 'All tactics',
    none: 'No tactics',
    total: 14,
    word: 'passwords',
  },
  {
    path: '/mitre/techniques',
    filter: 'technique_ids',
    all: 'MITRE techniques',
    none: 'No MITRE techniques',
    total: 835,
  },
  { path: '/mitre/groups', filter: 'group_ids', all: 'MITRE groups', none: 'No MITRE groups', total: 187 },
  {
    path: '/mitre/mitigations',
    filter: 'mitigation_ids',
    all: 'MITRE mitigations',
    none: 'No MITRE mitigations',
    total: 268,
  },
  { path: '/mitre/software', filter: 'software_ids', all: 'MITRE software', none: 'No MITRE software', total: 787 },
  {
    path: '/mitre/references',
    filter: 'reference_ids',
    all: 'MITRE references',
    none: 'No MITRE references',
    total: 8276,
    part: '/T1',
  },
];

describe('ATT&CK over the API', () => {
  let api: TestApi;
  let lists: ListCaller;
  before(async () => {
    api = await new TestApi().start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    lists = new ListCaller(api);
  });
  after(() => api.remove());

  const items = async (path: string) => (await lists.get(path)).data.affected_items;
  const values = async (path: string, name: string) => (await items(path)).map((item) => item[name]);
  const refusal = async (path: string) => {
    const answer = await api.call('GET', path);
    expect(answer.status, answer.text).to.equal(400);
    return answer.json() as { detail: string; remediation?: string; error?: number };
  };

  it('says which edition it is', async () => {
    const answer = await lists.get('/mitre/metadata');
    expect(answer.message).to.equal('MITRE metadata information was returned');
    expect(answer.data.affected_items).to.deep.equal([
      { key: 'db_version', value: '1' },
      { key: 'mitre_version', value: '18.x' },
    ]);
    expect(answer.data.total_affected_items).to.equal(2);
  });

  for (const { path, filter, all, none, total, word = 'microsoft', part = 'an' } of LISTS) {
    describe(path, () => {
      it('lists by id, in pages of 500 unless told otherwise', async () => {
        const answer = await lists.get(path);
        expect(answer.message).to.equal(`${all} information was returned`);
        expect(answer.data).to.include({ total_affected_items: total, total_failed_items: 0 });
        expect(answer.data.affected_items).to.have.length(Math.min(total, 500));
        const ids = answer.data.affected_items.map(({ id }) => id);
        expect(ids).to.deep.equal([...ids].sort());
        const page = await lists.get(`${path}?offset=3&limit=2`);
        expect(page.data.affected_items).to.deep.equal(answer.data.affected_items.slice(3, 5));
        expect(page.data.total_affected_items).to.equal(total);
        expect((await lists.get(`${path}?offset=${total}`)).data.affected_items).to.deep.equal([]);
      });

      it(`finds ${filter}, whatever their case; unknown ones are no failure`, async () => {
        const ids = [...new Set(await values(`${path}?limit=9&offset=4`, 'id'))].slice(0, 3) as string[];
        const found = await lists.get(`${path}?${filter}=${ids.join(',').toUpperCase()},object--unknown`);
        expect(new Set(found.data.affected_items.map(({ id }) => id))).to.deep.equal(new Set(ids));
        expect(found).to.deep.include({ error: 0, message: `${all} information was returned` });
        const unknown = await lists.get(`${path}?${filter}=object--unknown`);
        expect(unknown).to.deep.equal({
          data: { affected_items: [], total_affected_items: 0, total_failed_items: 0, failed_items: [] },
          message: `${none} information was returned`,
          error: 0,
        });
        expect((await lists.get(`${path}?${filter}=all&limit=1`)).data.total_affected_items).to.equal(total);
      });

      it('combines q, search, select and sort', async () => {
        const everything = await items(`${path}?limit=100000`);
        const field = path.endsWith('references') ? 'url' : 'name';
        const text = (item: Record<string, unknown>) => String(item[field]);
        const wanted = everything.filter((item) => JSON.stringify(item).toLowerCase().includes(word));
        expect(wanted.length).to.be.greaterThan(0);
        // Names of fields are not searched, and none has this text in it.
        const answer = await lists.get(
          `${path}?search=${word.toUpperCase()}&select=${field}&sort=-${field}&limit=100000`,
        );
        expect(answer.data.total_affected_items).to.equal(wanted.length);
        const sorted = wanted.map(text).map((each) => each.toLowerCase());
        expect(answer.data.affected_items.map((item) => text(item).toLowerCase())).to.deep.equal(
          sorted.sort().reverse(),
        );
        for (const item of answer.data.affected_items) expect(item).to.have.all.keys('id', field);
        const complement = await lists.get(`${path}?search=-${word}&limit=1`);
        expect(complement.data.total_affected_items).to.equal(total - wanted.length);

        const source = encodeURIComponent(`source=mitre-attack;${field}~${part}`);
        const matching = everything.filter((item) => item['source'] === 'mitre-attack' && text(item).includes(part));
        expect(matching.length).to.be.greaterThan(0).and.lessThan(total);
        expect(await items(`${path}?q=${source}&limit=100000`)).to.deep.equal(matching);
      });

      it('refuses fields that it does not have, and a query that is none', async () => {
        expect(await refusal(`${path}?select=id,nonsense`)).to.include({
          error: 1724,
          detail: 'Not a valid select field: id, nonsense',
        });
        const sort = await refusal(`${path}?sort=nonsense`);
        expect(sort).to.include({ error: 1403 });
        expect(sort.remediation).to.include('Wrong fields: nonsense');
        expect(await refusal(`${path}?q=nonsense`)).to.include({ error: 1407 });
        expect((await refusal(`${path}?nonsense=1`)).detail).to.equal('Extra query parameter(s) nonsense not in spec');
        expect((await refusal(`${path}?limit=0`)).detail).to.include('0 is less than the minimum of 1');
      });
    });
  }

  it('follows relations from object to object, as a dashboard does', async () => {
    const [tactic] = await items(`/mitre/tactics?tactic_ids=${CREDENTIAL_ACCESS}`);
    expect(tactic).to.include({ external_id: 'TA0006', short_name: 'credential-access', source: 'mitre-attack' });
    expect(tactic!['techniques']).to.include(BRUTE_FORCE);
    const [technique] = await items(`/mitre/techniques?technique_ids=${GUESSING}`);
    expect(technique).to.deep.include({
      external_id: 'T1110.001',
      subtechnique_of: BRUTE_FORCE,
      tactics: [CREDENTIAL_ACCESS],
      url: 'https://attack.mitre.org/techniques/T1110/001',
    });
    const groups = await items(`/mitre/groups?group_ids=${(technique!['groups'] as string[]).join(',')}`);
    expect(groups.map(({ name }) => name)).to.include('APT29');
    for (const group of groups) expect(group['techniques']).to.include(GUESSING);
  });

  it('takes the ids of all techniques of a group in one address of 8 KB', async () => {
    const [group] = await items(`/mitre/groups?group_ids=${APT28}`);
    const ids = group!['techniques'] as string[];
    const more = (await values('/mitre/techniques?limit=100', 'id')) as string[];
    const wanted = [...new Set([...ids, ...more])].slice(0, 160);
    const path = `/mitre/techniques?limit=500&technique_ids=${wanted.join(',')}`;
    expect(path.length).to.be.greaterThan(8200);
    expect(new Set(await values(path, 'id'))).to.deep.equal(new Set(wanted));
  });

  it('looks into relations and references with q, search and select', async () => {
    const used = await items(`/mitre/software?q=${encodeURIComponent(`groups=${APT28};deprecated=0`)}&limit=1000`);
    expect(used.length).to.be.greaterThan(20);
    for (const software of used) expect(software['groups']).to.include(APT28);
    expect(await values(`/mitre/groups?search=${APT28}`, 'id')).to.deep.equal([APT28]);
    const cited = await items('/mitre/techniques?q=references.external_id=T1110&select=external_id,references.url');
    expect(cited).to.have.length(1);
    expect(cited[0]).to.have.all.keys('id', 'external_id', 'references');
    for (const reference of cited[0]!['references'] as object[]) expect(reference).to.have.all.keys('url');
    const revoked = await lists.get(`/mitre/techniques?q=revoked_by~attack-pattern&limit=1000`);
    expect(revoked.data.total_affected_items).to.equal(132);
    const days = await values('/mitre/tactics?q=created_time>2018-10-18&select=created_time', 'created_time');
    expect(days.length).to.be.greaterThan(0).and.lessThan(14);
  });

  it('shows rows once with distinct, and takes fields that no object has', async () => {
    expect(await items('/mitre/software?select=source&distinct=true')).to.deep.equal([{ source: 'mitre-attack' }]);
    expect(await items('/mitre/techniques?select=mitre_detection,network_requirements&limit=1')).to.deep.equal([
      { id: 'attack-pattern--0042a9f5-f053-4769-b3ef-9ad018dfa298' },
    ]);
    expect((await refusal('/mitre/references?distinct=true')).detail).to.include('distinct');
  });

  it('answers the same text a second time, and as the other lists are written', async () => {
    const first = await api.call('GET', '/mitre/groups?limit=3');
    expect((await api.call('GET', '/mitre/groups?limit=3')).text).to.equal(first.text);
    const pretty = await api.call('GET', '/mitre/groups?limit=3&pretty=true');
    expect(pretty.json()).to.deep.equal(first.json());
    expect(first.text).to.match(
      /^\{"data": \{"affected_items": \[\{"id": "intrusion-set--[^\n]*\}\], "total_affected_items": 187, /,
    );
    const head = await api.call('HEAD', '/mitre/groups?limit=3');
    expect(head.headers['content-length']).to.equal(String(Buffer.byteLength(first.text)));
    expect(head.text).to.equal('');
  });

  it('needs mitre:read', async () => {
    const paths = ['/mitre/metadata', ...LISTS.map(({ path }) => path)];
    for (const path of paths) expect((await api.request('GET', path)).status, path).to.equal(401);
    await addUser(api, { name: 'rules-only', password: PASSWORD }, [policy('allow', 'rules:read', 'rule:file:*')]);
    const authorization = `Bearer ${await api.login('rules-only', PASSWORD)}`;
    for (const path of paths) {
      const answer = await api.request('GET', path, { headers: { authorization } });
      expect(answer.status, path).to.equal(403);
      expect(answer.json()).to.include({ error: 4000, detail: 'Permission denied: Resource type: *:*' });
    }
    api.forgetToken();
  });
});
