import { copyFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { ConfigurationDifference } from '../../../api/manager/configuration-differences.js';
import { parseApiConfig } from '../../../lib/config/load-api-config.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { ListCaller } from '../../support/api/api-list.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';

const CONFIGURATION = `<manager_config>
  <global><logall>yes</logall><alerts_log>yes</alerts_log><white_list>192.0.2.7</white_list></global>
  <integration><name>virustotal</name><api_key>top-secret</api_key><group>syscheck</group></integration>
  <cluster><name>c</name><node_name>one</node_name><key>0123456789abcdef0123456789abcdef</key><disabled>yes</disabled></cluster>
</manager_config>
`;

describe('where the configuration differs from the default', () => {
  let api: TestApi;
  let lists: ListCaller;

  before(async () => {
    api = await new TestApi().start();
    lists = new ListCaller(api);
    for (const name of ['internal_options.conf', 'local_internal_options.conf']) {
      copyFileSync(fileURLToPath(new URL(`etc/${name}`, productRoot())), api.home.path('etc', name));
    }
  });
  after(() => api.remove());

  const differences = async () =>
    (await lists.call('GET', '/manager/configuration/differences')).data
      .affected_items as unknown as ConfigurationDifference[];

  it('is nowhere where nothing is said but defaults', async () => {
    api.apiConfig = parseApiConfig('', 'api.yaml').config;
    expect(await differences()).to.deep.equal([]);
    writeFileSync(api.home.path('etc/manager.conf'), '<manager_config><global/><auth/></manager_config>');
    expect((await differences()).map(({ option }) => option)).to.deep.equal(['auth']);
  });

  it('is said option by option, with both values; an own file of internal options counts', async () => {
    writeFileSync(api.home.path('etc/manager.conf'), CONFIGURATION);
    writeFileSync(api.home.path('etc/local_internal_options.conf'), 'analysisd.log_fw=0\n');
    api.apiConfig = parseApiConfig('logs:\n  level: debug\n', 'api.yaml').config;
    const found = await differences();
    const of = (option: string) => found.find((each) => each.option === option);
    expect(of('global.logall')).to.deep.equal({
      source: 'etc/manager.conf',
      option: 'global.logall',
      value: true,
      default: false,
    });
    expect(of('analysisd.log_fw')).to.include({ source: 'etc/local_internal_options.conf', value: 0, default: 1 });
    expect(of('logs.level')).to.deep.include({ source: 'api/configuration/api.yaml', value: 'debug', default: 'info' });
    expect(of('cluster.node_name')).to.include({ value: 'one' });
    expect(of('cluster.key')?.value).to.equal('0123456789abcdef0123456789abcdef');
  });

  it('hides secrets from who may not change the configuration', async () => {
    const password = 'Reader-42-password';
    await addUser(api, { name: 'reader', password }, [
      policy('allow', 'manager:read,manager:read_api_config', '*:*:*'),
    ]);
    api.forgetToken();
    const authorization = `Bearer ${await api.login('reader', password)}`;
    const { text } = await api.call('GET', '/manager/configuration/differences', undefined, { authorization });
    expect(text).to.include('*****').and.not.include('top-secret').and.not.include('0123456789abcdef');
  });

  it('names the line of a file that cannot be read', async () => {
    writeFileSync(api.home.path('etc/manager.conf'), '<manager_config>\n<global>');
    api.forgetToken();
    const answer = await lists.call('GET', '/manager/configuration/differences');
    expect(answer.data.failed_items[0]?.error).to.include({ code: 1101 });
    expect(answer.data.failed_items[0]?.error.message).to.include('line');
  });
});
