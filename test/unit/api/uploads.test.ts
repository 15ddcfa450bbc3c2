import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { expect } from 'chai';
import type { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import type { RequestServer } from '../../../lib/bus/request-server.js';
import { serveAnalysisd } from '../../support/analysisd/analysisd-server.js';
import { type ApiList, ListCaller } from '../../support/api/api-list.js';
import { addUser } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';

const CONFIGURATION = `<manager_config>
  <ruleset>
    <rule_dir>ruleset/rules</rule_dir>
    <rule_dir>etc/rules</rule_dir>
    <rule_dir>etc/rules/absent</rule_dir>
    <rule_dir>etc/rules/linked</rule_dir>
    <rule_dir>etc/rules/outside</rule_dir>
    <decoder_dir>ruleset/decoders</decoder_dir>
    <decoder_dir>etc/decoders/</decoder_dir>
  </ruleset>
</manager_config>
`;
const OLD = '<group name="old,"></group>\n';
const NEW = '<group name="new,"></group>\n';

describe('uploads over the API', () => {
  let api: TestApi;
  let lists: ListCaller;
  let analysisd: RequestServer<typeof analysisdContract> | undefined;
  /** What the engine says about the files on disk. */
  let check: () => string[] | Promise<string[]>;

  beforeEach(async () => {
    check = () => [];
    api = await new TestApi().start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    lists = new ListCaller(api);
    for (const directory of ['ruleset/rules', 'ruleset/decoders', 'etc/rules', 'etc/decoders', 'etc/lists/deep']) {
      mkdirSync(api.home.path(directory), { recursive: true });
    }
    writeFileSync(api.home.path('etc/manager.conf'), CONFIGURATION);
    write('ruleset/rules/0010-shipped.xml', OLD);
    analysisd = await serveAnalysisd(api, { 'ruleset.check': async () => ({ errors: await check() }) });
  });
  afterEach(async () => {
    await api.remove();
    await analysisd?.stop();
    analysisd = undefined;
  });

  const write = (path: string, text: string) => writeFileSync(api.home.path(path), text);
  const read = (path: string) => readFileSync(api.home.path(path), 'utf8');
  const put = (path: string, body: string | Buffer = NEW): Promise<ApiList> =>
    lists.call('PUT', path, { template: template(path), body });
  const remove = (path: string): Promise<ApiList> => lists.call('DELETE', path, { template: template(path) });
  const template = (path: string) => path.replace(/(files\/).*$/, '$1{filename}');
  const failure = (answer: ApiList) => {
    expect(answer.error).to.equal(1);
    expect(answer.data.failed_items).to.have.length(1);
    const [item] = answer.data.failed_items;
    return { code: item?.error.code, message: item?.error.message, id: item?.id[0] };
  };
  const leftovers = () => [
    ...readdirSync(api.home.path('etc/rules')).filter((name) => !name.endsWith('.xml')),
    ...(existsSync(api.home.path('api/uploads')) ? readdirSync(api.home.path('api/uploads')) : []),
  ];

  it('store a new file with rules, and replace it only when told to', async () => {
    const seen: string[] = [];
    check = () => {
      seen.push(read('etc/rules/mine.xml'));
      return [];
    };
    const stored = await put('/rules/files/mine.xml');
    expect(stored.message).to.equal('Rule was successfully uploaded');
    expect(stored.data.affected_items).to.deep.equal(['etc/rules/mine.xml']);
    expect(seen, 'checked in place').to.deep.equal([NEW]);
    expect(read('etc/rules/mine.xml')).to.equal(NEW);
    expect(statSync(api.home.path('etc/rules/mine.xml')).mode & 0o777).to.equal(0o660);
    const refused = await put('/rules/files/mine.xml', OLD);
    expect(refused.message).to.equal('Could not upload rule');
    expect(failure(refused)).to.deep.equal({
      code: 1905,
      message: 'File could not be updated, it already exists',
      id: 'etc/rules/mine.xml',
    });
    expect(read('etc/rules/mine.xml')).to.equal(NEW);
    chmodSync(api.home.path('etc/rules/mine.xml'), 0o640);
    await put('/rules/files/mine.xml?overwrite=true&relative_dirname=etc/rules/', OLD);
    expect(read('etc/rules/mine.xml')).to.equal(OLD);
    expect(statSync(api.home.path('etc/rules/mine.xml')).mode & 0o777, 'keeps its mode').to.equal(0o640);
    expect(leftovers()).to.deep.equal([]);
  });

  it('put back what was there when the engine refuses, and say what it said', async () => {
    const text = 'rules_op: Invalid level: 20. (etc/rules/mine.xml:3, rule 100200)';
    check = () => [text, 'more'];
    expect(failure(await put('/rules/files/mine.xml'))).to.deep.equal({
      code: 1113,
      message: `XML syntax error: ${text}, more`,
      id: 'etc/rules/mine.xml',
    });
    expect(existsSync(api.home.path('etc/rules/mine.xml'))).to.equal(false);
    write('etc/rules/mine.xml', OLD);
    chmodSync(api.home.path('etc/rules/mine.xml'), 0o600);
    expect(failure(await put('/rules/files/mine.xml?overwrite=true')).code).to.equal(1113);
    expect(read('etc/rules/mine.xml')).to.equal(OLD);
    expect(statSync(api.home.path('etc/rules/mine.xml')).mode & 0o777).to.equal(0o600);
    expect(leftovers()).to.deep.equal([]);
  });

  it('put back what was there when svc-analysisd is not there to check', async () => {
    await analysisd?.stop();
    write('etc/decoders/mine.xml', OLD);
    const answer = await api.call('PUT', '/decoders/files/mine.xml?overwrite=true', NEW, {
      'content-type': 'application/octet-stream',
    });
    expect(answer.status).to.equal(500);
    expect(answer.json()).to.include({
      error: 1017,
      detail: 'Some Wazuh daemons are not ready yet in node "node01" (svc-analysisd->stopped)',
    });
    expect(read('etc/decoders/mine.xml')).to.equal(OLD);
    expect(leftovers()).to.deep.equal([]);
  });

  it('are checked one at a time', async () => {
    let running = 0;
    let most = 0;
    check = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      return existsSync(api.home.path('etc/rules/bad.xml')) ? ['bad'] : [];
    };
    const answers = await Promise.all(['a', 'bad', 'b', 'c'].map((name) => put(`/rules/files/${name}.xml`)));
    expect(most).to.equal(1);
    expect(answers.map(({ error }) => error)).to.deep.equal([0, 1, 0, 0]);
    expect(readdirSync(api.home.path('etc/rules')).sort()).to.deep.equal(['a.xml', 'b.xml', 'c.xml']);
  });

  it('undo at the next start what was cut off before its check', async () => {
    write('etc/rules/mine.xml', OLD);
    let before: Record<string, string> = {};
    check = () => {
      const directory = api.home.path('api/uploads');
      before = Object.fromEntries(readdirSync(directory).map((name) => [name, read(`api/uploads/${name}`)]));
      return [];
    };
    const cutOff = async (path: string) => {
      await put(path);
      for (const [name, text] of Object.entries(before)) write(`api/uploads/${name}`, text);
    };
    await cutOff('/rules/files/mine.xml?overwrite=true');
    await cutOff('/rules/files/fresh.xml');
    await cutOff('/rules/files/edited.xml');
    write('etc/rules/edited.xml', OLD);
    write('api/uploads/half.undo.1.abcd.tmp', 'half');
    await api.stop();
    await api.open();
    expect(read('etc/rules/mine.xml'), 'the content before').to.equal(OLD);
    expect(existsSync(api.home.path('etc/rules/fresh.xml')), 'there was none').to.equal(false);
    expect(read('etc/rules/edited.xml'), 'changed since by somebody').to.equal(OLD);
    expect(leftovers()).to.deep.equal([]);
    expect(api.logger.lines.filter((line) => line.includes('was cut off before its check'))).to.have.length(2);
    write('api/uploads/rubbish.undo', 'rubbish');
    await api.stop();
    await api.open();
    expect(api.logger.lines.some((line) => /An upload that was cut off cannot be undone: rubbish/.test(line))).to.equal(
      true,
    );
  });

  it('refuse directories that are not the user’s', async () => {
    symlinkSync('../../ruleset/rules', api.home.path('etc/rules/linked'));
    const code = async (path: string) => failure(await put(path)).code;
    expect(await code('/rules/files/a.xml?relative_dirname=etc/rules/other')).to.equal(1209);
    expect(await code('/rules/files/a.xml?relative_dirname=etc/decoders')).to.equal(1209);
    expect(await code('/rules/files/a.xml?relative_dirname=ruleset/rules')).to.equal(1210);
    expect(await code('/rules/files/0010-shipped.xml?overwrite=true&relative_dirname=ruleset/rules')).to.equal(1210);
    expect(await code('/rules/files/a.xml?relative_dirname=etc/rules/absent')).to.equal(1211);
    expect(await code('/rules/files/0010-shipped.xml?overwrite=true&relative_dirname=etc/rules/linked')).to.equal(1210);
    expect(await code('/decoders/files/a.xml?relative_dirname=etc/decoders/other')).to.equal(1505);
    expect(await code('/decoders/files/a.xml?relative_dirname=ruleset/decoders')).to.equal(1506);
    expect(failure(await remove('/rules/files/0010-shipped.xml?relative_dirname=ruleset/rules')).code).to.equal(1210);
    expect(failure(await remove('/decoders/files/x.xml?relative_dirname=etc/decoders/none')).code).to.equal(1505);
    expect(read('ruleset/rules/0010-shipped.xml')).to.equal(OLD);
    rmSync(api.home.path('etc/decoders'), { recursive: true });
    expect(await code('/decoders/files/a.xml')).to.equal(1507);
    symlinkSync('/tmp', api.home.path('etc/decoders'));
    expect(await code('/decoders/files/a.xml'), 'leads out of the home').to.equal(1006);
  });

  it('refuse names and paths that lead elsewhere', async () => {
    const send = (path: string) => api.call('PUT', path, NEW, { 'content-type': 'application/octet-stream' });
    for (const path of [
      '/rules/files/..%2fx.xml',
      '/rules/files/a%2f..%2fb.xml',
      '/rules/files/%2e%2e%2f%2e%2e%2fetc%2fmanager.xml',
      '/rules/files/..',
      '/rules/files/a%00.xml',
      '/rules/files/.xml',
      '/rules/files/a.xml%00',
      '/rules/files/a.b.xml',
      '/rules/files/a.xml.',
      '/rules/files/a',
      `/rules/files/${'a'.repeat(300)}.xml`,
      '/rules/files/a.xml?relative_dirname=etc/../ruleset/rules',
      '/rules/files/a.xml?relative_dirname=/etc/rules',
      '/rules/files/a.xml?relative_dirname=etc/rules/%00',
      '/lists/files/..',
      '/lists/files/a.cdb',
      '/lists/files/..%2fx',
      `/lists/files/${'a'.repeat(300)}`,
    ]) {
      const answer = await send(path);
      expect(answer.status, `${path}: ${answer.text}`).to.be.oneOf([400, 404]);
    }
    expect(readdirSync(api.home.path('etc/rules'))).to.deep.equal([]);
    const long = await send(`/rules/files/${encodeURIComponent('ä'.repeat(120))}.xml`);
    expect((long.json() as { detail: string }).detail).to.match(/^'ä+\.\.\.' is too long$/);
    write('etc/victim.xml', OLD);
    symlinkSync('../victim.xml', api.home.path('etc/rules/link.xml'));
    expect(failure(await put('/rules/files/link.xml?overwrite=true'))).to.include({
      code: 1006,
      message:
        'File/directory does not exist or there is a problem with the permissions: etc/rules/link.xml is not a regular file',
    });
    expect(read('etc/victim.xml')).to.equal(OLD);
    mkdirSync(api.home.path('etc/rules/dir.xml'));
    expect(failure(await put('/rules/files/dir.xml?overwrite=true')).code).to.equal(1006);
  });

  it('refuse content that is none', async () => {
    const send = (body: string | Buffer) =>
      api.call('PUT', '/rules/files/a.xml', body, { 'content-type': 'application/octet-stream' });
    expect((await send('')).json()).to.include({ error: 1912 });
    expect((await send(Buffer.from([0x3c, 0xff, 0xfe]))).json()).to.include({ error: 1911 });
    expect(failure(await put('/rules/files/a.xml', ' \n')).code).to.equal(1112);
    expect(failure(await put('/rules/files/a.xml', '<group name="x">\n<rule id="1">\n</group>'))).to.deep.equal({
      code: 1113,
      message: "XML syntax error: XMLERR: Element 'rule' not closed. (etc/rules/a.xml:3)",
      id: 'etc/rules/a.xml',
    });
    const wrong = await api.call('PUT', '/rules/files/a.xml', { a: 1 });
    expect(wrong.status).to.equal(415);
    expect(readdirSync(api.home.path('etc/rules'))).to.deep.equal([]);
  });

  it('take the meaning of formulas from texts', async () => {
    await put('/rules/files/a.xml', '<group name="x,"><rule id="1" level="0"><match>=cmd("x")</match></rule></group>');
    expect(read('etc/rules/a.xml')).to.include(`<match>'=cmd("x")</match>`);
  });

  it('delete files', async () => {
    write('etc/rules/mine.xml', OLD);
    const deleted = await remove('/rules/files/mine.xml');
    expect(deleted.message).to.equal('Rule was successfully deleted');
    expect(deleted.data.affected_items).to.deep.equal(['etc/rules/mine.xml']);
    const again = await remove('/rules/files/mine.xml');
    expect(again.message).to.equal('Could not delete rule');
    expect(failure(again)).to.deep.equal({ code: 1906, message: 'File does not exist', id: 'etc/rules/mine.xml' });
    write('etc/decoders/mine.xml', OLD);
    expect((await remove('/decoders/files/mine.xml')).message).to.equal('Decoder file was successfully deleted');
  });

  it('store and delete lists', async () => {
    const text = 'one:1\n"two words":"a:b"\nthree:\n';
    const stored = await put('/lists/files/mine', text);
    expect(stored.message).to.equal('CDB list file uploaded successfully');
    expect(stored.data.affected_items).to.deep.equal(['etc/lists/mine']);
    expect(read('etc/lists/mine')).to.equal(text);
    expect(failure(await put('/lists/files/mine', 'a:b')).code).to.equal(1905);
    write('etc/lists/mine.cdb', 'compiled');
    await put('/lists/files/mine?overwrite=true', 'a:b');
    expect(read('etc/lists/mine')).to.equal('a:b');
    expect(existsSync(api.home.path('etc/lists/mine.cdb')), 'no longer that of the text').to.equal(false);
    expect(failure(await put('/lists/files/bad', 'a:b\nno colon\n'))).to.include({
      code: 1800,
      message: 'Bad format in CDB list etc/lists/bad: line 2',
    });
    expect(failure(await put('/lists/files/bad', 'a b:c')).code).to.equal(1800);
    expect(failure(await put('/lists/files/bad', '\n')).code).to.equal(1112);
    write('etc/lists/deep/twin', 'a:b');
    expect(failure(await put('/lists/files/twin', 'a:b')).code).to.equal(1805);
    expect(failure(await put('/lists/files/deep?overwrite=true', 'a:b')).code).to.equal(1006);
    write('etc/lists/mine.cdb', 'compiled');
    const deleted = await remove('/lists/files/mine');
    expect(deleted.message).to.equal('CDB list file was successfully deleted');
    expect(readdirSync(api.home.path('etc/lists'))).to.deep.equal(['deep']);
    expect(failure(await remove('/lists/files/mine')).code).to.equal(1906);
  });

  it('need the actions of the file', async () => {
    const password = 'Secret-43-password';
    await addUser(api, { name: 'writer', password }, [
      { actions: ['rules:update', 'lists:update'], resources: ['*:*:*'], effect: 'allow' },
      { actions: ['rules:delete'], resources: ['rule:file:mine.xml'], effect: 'allow' },
    ]);
    const authorization = `Bearer ${await api.login('writer', password)}`;
    const headers = { authorization, 'content-type': 'application/octet-stream' };
    const send = (method: string, path: string) => api.request(method, path, { headers, body: NEW });
    expect((await send('PUT', '/rules/files/mine.xml')).status).to.equal(200);
    const denied = async (method: string, path: string) => {
      const answer = await send(method, path);
      expect(answer.status).to.equal(403);
      return (answer.json() as { detail: string }).detail;
    };
    expect(await denied('PUT', '/rules/files/other.xml')).to.equal('Permission denied: Resource type: rule:file');
    expect(await denied('DELETE', '/rules/files/other.xml')).to.equal('Permission denied: Resource type: rule:file');
    expect(await denied('PUT', '/decoders/files/mine.xml')).to.equal('Permission denied: Resource type: *:*');
    expect(await denied('PUT', '/lists/files/mine')).to.equal('Permission denied: Resource type: list:file');
    expect(await denied('DELETE', '/lists/files/mine')).to.equal('Permission denied: Resource type: list:file');
  });
});
