import { expect } from 'chai';
import type { ElementEffects } from '../../../../lib/config/effects/effect.js';
import { effectsOf, ownerOf, WODLE_NAMES } from '../../../../lib/config/effects/effect-table.js';
import { findNoEffect } from '../../../../lib/config/effects/find-no-effect.js';
import type { Field, Shape } from '../../../../lib/config/field.js';
import { SECTION_NAMES, SECTIONS } from '../../../../lib/config/manager-config.js';
import { readConfigurationXml } from '../../../../lib/config/read-configuration-xml.js';
import { sectionBlocks } from '../../../../lib/config/section-blocks.js';
import { UNREAD_WODLES, WODLE_SHAPES } from '../../../../lib/config/sections/modules.js';
import type { HomeRole } from '../../../../lib/home/home-record.js';
import { MANAGER_DAEMONS } from '../../../../lib/product/daemon-names.js';
import { SPECIFIED_ELEMENTS } from '../../../support/config/specified-elements.js';

const FILE = 'etc/manager.conf';
const find = (inner: string, role: HomeRole = 'server') =>
  findNoEffect(sectionBlocks(readConfigurationXml(`<manager_config>${inner}</manager_config>`, FILE), FILE), role);
const whats = (inner: string, role?: HomeRole) => find(inner, role).map(({ what }) => what);

/** Elements of a shape that the table does not name, and names of the table that the shape does not have. */
function differences(shape: Shape, elements: ElementEffects, path: string): string[] {
  const wrong = Object.keys(elements)
    .filter((name) => !Object.hasOwn(shape, name))
    .map((name) => `${path}/${name} is not read`);
  for (const [name, field] of Object.entries(shape)) {
    const effect = elements[name];
    if (effect === undefined) {
      wrong.push(`${path}/${name} is in no table`);
    } else if (effect.kind === 'group') {
      wrong.push(...differences(field.shape ?? {}, effect.elements, `${path}/${name}`));
    } else if (effect.kind === 'works' && field.shape !== undefined) {
      wrong.push(`${path}/${name}: what is inside is in no table`);
    }
  }
  return wrong;
}

describe('what of the configuration has an effect', () => {
  for (const role of ['server', 'agent'] as const) {
    it(`knows every section and element that is read, on a ${role}`, () => {
      const wrong: string[] = [];
      for (const name of SECTION_NAMES) {
        if (name === 'wodle') continue;
        const { elements } = effectsOf(role, name);
        const field: Field<unknown> = SECTIONS[name];
        // Labels are read by themselves.
        const shape = name === 'labels' ? { label: field } : field.shape;
        if (shape === undefined) expect(elements, name).to.equal('any');
        else if (elements === 'any') wrong.push(`${name}: its elements are in no table`);
        else wrong.push(...differences(shape, elements, name));
      }
      expect(wrong).to.deep.equal([]);
    });
  }

  it('knows every module of wodle', () => {
    expect([...WODLE_NAMES].sort()).to.deep.equal([...Object.keys(WODLE_SHAPES), ...UNREAD_WODLES].sort());
    for (const [name, shape] of Object.entries(WODLE_SHAPES)) {
      const [block] = readConfigurationXml(`<wodle name="${name}"/>`, FILE);
      const { elements } = effectsOf('server', 'wodle', block);
      expect(elements === 'any' ? ['any'] : differences(shape, elements, name), name).to.deep.equal([]);
    }
  });

  it('knows every section and element of the specified list', () => {
    const missing = Object.entries(SPECIFIED_ELEMENTS).flatMap(([name, elements]) => {
      const known = SECTION_NAMES.find((each) => each === name);
      if (known === undefined) return [name];
      const table = effectsOf('server', known).elements;
      return elements
        .filter((element) => table !== 'any' && !hasPath(table, element.split('/')))
        .map((element) => `${name}/${element}`);
    });
    expect(missing).to.deep.equal([]);
  });

  it('names each section once, with all its lines', () => {
    const [first, ...others] = find('<agentless><type>a</type></agentless>\n\n<agentless><type>b</type></agentless>');
    expect(others).to.deep.equal([]);
    expect(first).to.include({
      file: FILE,
      line: 1,
      section: 'agentless',
      what: 'agentless',
      state: 'later',
      text: "Section 'agentless' has no effect in this version: hosts without an agent are not looked at (also line 3).",
    });
    expect(first?.lines).to.deep.equal([1, 3]);
  });

  it('says nothing of what is switched off or asks for nothing', () => {
    const off = [
      '<global><email_notification>no</email_notification><email_to>a@x.test</email_to><update_check>no</update_check></global>',
      '<global><white_list>10.0.0.1</white_list><smtp_server>mail</smtp_server></global>',
      '<email_alerts><email_to>a@x.test</email_to></email_alerts>',
      '<wodle name="osquery"><disabled>yes</disabled></wodle><wodle name="syscollector"><disabled>yes</disabled></wodle>',
      '<sca><enabled>no</enabled></sca><indexer><enabled>no</enabled></indexer><cluster><disabled>yes</disabled></cluster>',
      '<vulnerability-detection><index-status>yes</index-status></vulnerability-detection>',
      '<command><name>x</name><executable>y</executable></command><sca><policies><policy>a.yml</policy></policies></sca>',
      '<active-response><disabled>yes</disabled></active-response>',
      '<active-response><repeated_offenders>1,2</repeated_offenders></active-response>',
      '<auth><disabled>yes</disabled><key_request><exec_path>/x</exec_path></key_request></auth>',
      '<remote><connection>secure</connection><queue_size>9</queue_size></remote>',
      '<remote><connection>syslog</connection><denied-ips>10.0.0.1</denied-ips><rewrite_rfc5424>yes</rewrite_rfc5424></remote><alerts><use_geoip>no</use_geoip></alerts>',
      '<syscheck><disabled>yes</disabled><windows_registry>x</windows_registry></syscheck>',
    ].join('');
    expect(whats(off)).to.deep.equal([]);
  });

  it('says what of the cluster of 4.x has no effect, with its lines', () => {
    const old =
      '<cluster>\n<name>a</name>\n<node_name>n</node_name>\n<node_type>worker</node_type>\n<key>k</key>\n<port>1516</port>\n' +
      '<bind_addr>0.0.0.0</bind_addr>\n<nodes><node>10.0.0.1</node></nodes>\n<hidden>no</hidden><interval>10</interval>\n' +
      '<haproxy_helper><haproxy_disabled>no</haproxy_disabled></haproxy_helper>\n<disabled>no</disabled></cluster>';
    expect(find(old).map(({ what, line, owner }) => [what, line, owner])).to.deep.equal([
      ['cluster/node_type', 4, 'svc-clusterd'],
      ['cluster/port', 6, 'svc-clusterd'],
      ['cluster/bind_addr', 7, 'svc-clusterd'],
      ['cluster/interval', 9, 'svc-clusterd'],
      ['cluster/haproxy_helper', 10, 'svc-clusterd'],
    ]);
    expect(whats(old.replace('<hidden>no', '<hidden>yes'))).to.include('cluster/hidden');
    expect(whats(old.replace('<disabled>no', '<disabled>yes'))).to.deep.equal([]);
    const fresh = '<cluster><key>k</key><nodes><node>a</node></nodes><nats><ca>c</ca></nats></cluster>';
    expect(whats(fresh)).to.deep.equal([]);
    expect(whats(old.replace('<haproxy_disabled>no', '<haproxy_disabled>yes'))).not.to.include(
      'cluster/haproxy_helper',
    );
  });

  it('says that alerts.json is written for outputs that read it', () => {
    const off = '<global>\n<jsonout_output>no</jsonout_output></global>';
    expect(whats(off)).to.deep.equal([]);
    const [first, ...others] = find(`${off}<syslog_output><server>siem</server></syslog_output>`);
    expect(others).to.deep.equal([]);
    expect(first).to.include({
      line: 2,
      owner: 'svc-analysisd',
      text: "Element 'jsonout_output' of 'global' has no effect here: alerts are handed on from alerts.json, so it is written all the same.",
    });
  });

  it('says what is asked for and not done', () => {
    const on = [
      '<wodle name="osquery"/><wodle name="syscollector"/><indexer><enabled>yes</enabled></indexer>',
      '<vulnerability-detection><enabled>yes</enabled></vulnerability-detection><agentless/><database_output/>',
      '<auth><key_request><enabled>yes</enabled></key_request></auth><gcp-pubsub/>',
      '<remote><connection>syslog</connection><allowed-ips>10.0.0.0/8</allowed-ips><queue_size>9</queue_size></remote><client/><labels/>',
      '<syscheck><windows_registry>x</windows_registry></syscheck><rootcheck><check_winapps>yes</check_winapps></rootcheck>',
    ].join('\n');
    expect(new Set(whats(on))).to.deep.equal(
      new Set([
        'wodle name="osquery"',
        ...['vulnerability-detection', 'agentless', 'database_output', 'auth/key_request'],
        ...['gcp-pubsub', 'remote/queue_size', 'client', 'labels'],
        ...['syscheck/windows_registry', 'rootcheck/check_winapps'],
      ]),
    );
  });

  it('says what an indexer does not get', () => {
    const indexer = (options: string) => whats(`<indexer><enabled>yes</enabled>${options}</indexer>`);
    expect(indexer('')).to.deep.equal([]);
    expect(indexer('<options><alerts>yes</alerts><states>yes</states></options>')).to.deep.equal([]);
    expect(indexer('<options><fim_states>no</fim_states></options>')).to.deep.equal([]);
    expect(indexer('<options><fim_states>yes</fim_states></options>')).to.deep.equal(['indexer/options/fim_states']);
    expect(whats('<indexer><hosts><host>https://a:9200</host></hosts></indexer>')).to.deep.equal([]);
  });

  it('goes by the role of the home', () => {
    const text = '<client/><labels><label key="a">b</label></labels><remote><connection>secure</connection></remote>';
    expect(whats(text, 'agent')).to.deep.equal(['remote']);
    expect(whats(text, 'server')).to.deep.equal(['client', 'labels']);
    const block = '<active-response><disabled>no</disabled><ca_store>etc/wpk_root.pem</ca_store></active-response>';
    expect(whats(block, 'agent')).to.deep.equal([]);
    const bound =
      '<command><name>c</name></command><active-response><command>c</command><location>local</location></active-response>';
    expect(whats(bound, 'agent')).to.deep.equal(['command', 'active-response/command', 'active-response/location']);
    expect([...whats(block, 'server'), ...whats(bound, 'server')]).to.deep.equal([]);
  });

  it('has a daemon of the home speak of each section', () => {
    const daemons = {
      server: MANAGER_DAEMONS,
      agent: ['svc-agentd', 'svc-logcollector', 'svc-syscheckd', 'svc-modulesd'],
    } as const;
    for (const role of ['server', 'agent'] as const) {
      for (const name of SECTION_NAMES) expect(daemons[role], `${role} ${name}`).to.include(ownerOf(role, name));
    }
  });

  it('takes names of other things for none', () => {
    expect(whats('<wodle name="constructor"/><global><constructor>x</constructor></global>')).to.deep.equal([]);
  });
});

function hasPath(elements: ElementEffects, [first = '', ...rest]: readonly string[]): boolean {
  const effect = Object.hasOwn(elements, first) ? elements[first] : undefined;
  if (effect === undefined) return false;
  // What is inside a part or a section without effect is read by the shapes that the tests above walk.
  return rest.length === 0 || effect.kind !== 'group' || hasPath(effect.elements, rest);
}
