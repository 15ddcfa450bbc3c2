import { expect } from 'chai';
import { withCluster, withoutCluster } from '../../../../bin/control/cluster/cluster-block.js';
import { parseManagerConfig } from '../../../../lib/config/load-manager-config.js';

const FILE = 'etc/manager.conf';
const CLUSTER = {
  version: 1,
  cluster: 'office',
  node: 'n1',
  key: 'k'.repeat(32),
  urls: ['tls://10.0.0.1:4222', 'tls://[2001:db8::2]:4222'],
  nodes: [],
} as const;
const join = (text: string) => withCluster(text, FILE, { ...CLUSTER, urls: [...CLUSTER.urls], nodes: [] });
const read = (text: string) => parseManagerConfig(text, FILE, ['cluster']).cluster;

describe('<cluster> of the main configuration', () => {
  const before = '<!-- <cluster> of old -->\n<manager_config>\n  <global/>\r\n\t<cluster>\n  <name>x</name>';
  const after = '</cluster>\n</manager_config>\n<!-- caf\xe9 --><ossec_config><alerts/></ossec_config>  ';

  it('is replaced where it stands, and all else stays as it is', () => {
    const text = join(`${before}<disabled>yes</disabled>${after}`);
    const block = text.slice(before.indexOf('<cluster>\n  <name>'), text.length - (after.length - '</cluster>'.length));
    expect(text.startsWith(before.slice(0, before.indexOf('<cluster>\n  <name>')))).to.equal(true);
    expect(text.endsWith(after.slice('</cluster>'.length))).to.equal(true);
    expect(block).to.match(/^<cluster>\n\t {2}<name>office<\/name>\n[^]*\n\t<\/cluster>$/);
    expect(read(text)).to.deep.include({ name: 'office', node_name: 'n1', key: CLUSTER.key, disabled: false });
    expect(read(text)?.nodes.node).to.deep.equal(CLUSTER.urls);
  });

  it('is the last one, which counts, whatever comments say', () => {
    const one = '<manager_config><cluster><name>a</name><disabled>yes</disabled></cluster></manager_config>\n';
    const text = join(`${one}${one}<!-- ${one} -->`);
    expect(text.startsWith(one)).to.equal(true);
    expect(text).to.match(/<!-- <manager_config><cluster><name>a<\/name>[^]*-->$/);
    expect(read(text)?.name).to.equal('office');
  });

  it('is appended where there is none', () => {
    for (const text of ['', '<manager_config></manager_config>', '<ossec_config><alerts/></ossec_config>\n']) {
      expect(join(text).startsWith(text)).to.equal(true);
      expect(read(join(text))?.node_name).to.equal('n1');
    }
  });

  it('is switched off with one word', () => {
    const joined = join('<manager_config></manager_config>');
    expect(withoutCluster(joined, FILE)).to.equal(joined.replace('<disabled>no<', '<disabled>yes<'));
    const said = '<manager_config>\n  <cluster>\n    <key>k</key>\n  </cluster>\n</manager_config>';
    expect(withoutCluster(said, FILE)).to.equal(said.replace('</key>\n', '</key>\n    <disabled>yes</disabled>\n'));
    const short = '<manager_config><cluster><key>k</key></cluster></manager_config>';
    expect(withoutCluster(short, FILE)).to.equal(short.replace('</cluster>', '<disabled>yes</disabled></cluster>'));
  });

  it('is not switched off twice', () => {
    expect(withoutCluster('<manager_config></manager_config>', FILE)).to.equal(undefined);
    const off = '<manager_config><cluster><disabled>no</disabled><disabled> yes </disabled></cluster></manager_config>';
    expect(withoutCluster(off, FILE)).to.equal(undefined);
  });
});
