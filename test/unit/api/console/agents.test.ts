import { expect } from 'chai';
import { onlyItem } from '../../../../api/console/browser/client/api-client.js';
import { choices, lastSeen, listParameters } from '../../../../api/console/browser/pages/agents/agent.js';
import {
  type Enrolment,
  hostOf,
  isAgentName,
  isHost,
  ownCommands,
  readSettings,
  wazuhCommands,
} from '../../../../api/console/browser/pages/agents/enrol-commands.js';
import { historyQuery, isAbout } from '../../../../api/console/browser/pages/agents/file-history.js';
import { flatten } from '../../../../api/console/browser/pages/agents/flatten.js';
import { INVENTORY_TABLES, valueAt } from '../../../../api/console/browser/pages/agents/inventory-tables.js';
import { parseQuery } from '../../../../lib/query/parse-query.js';

describe('agents in the console', () => {
  it('asks for agents by the parameters of the place, without the manager', () => {
    expect(listParameters(new URLSearchParams('status=active&os.name=Debian&offset=25&search='))).to.deep.equal({
      status: 'active',
      'os.name': 'Debian',
      q: 'id!=000',
    });
    expect(listParameters(new URLSearchParams('q=name~a,name~b'))['q']).to.equal('(name~a,name~b);id!=000');
  });

  it('offers the commonest systems first, and none that is not known', () => {
    const items = [
      { value: 'Debian', count: 1 },
      { value: 'N/A', count: 9 },
      { value: 'Alma', count: 2 },
      { value: 'Debian', count: 4 },
    ];
    expect(choices(items)).to.deep.equal([
      ['Debian', 'Debian (5)'],
      ['Alma', 'Alma (2)'],
    ]);
    expect(lastSeen({ id: '000', name: 'm', status: 'active', lastKeepAlive: '9999-12-31T23:59:59+00:00' })).to.equal(
      undefined,
    );
  });

  it('says why the only item is not there', () => {
    const failed = { error: { code: 1701, message: 'Agent does not exist' }, id: ['099'] };
    const empty = { affected_items: [], total_affected_items: 0, failed_items: [], total_failed_items: 0 };
    expect(onlyItem(empty)).to.equal(undefined);
    expect(() => onlyItem({ ...empty, failed_items: [failed] })).to.throw('Agent does not exist');
  });

  describe('to be enrolled', () => {
    const enrolment: Enrolment = {
      ...{ host: 'manager1', name: '', groups: [], port: 1515, agentPort: 1514, needsPassword: false },
    };

    it('gets commands that are as short as they can be', () => {
      expect(ownCommands(enrolment).split('\n')).to.deep.equal([
        'bin/svc-control init --agent --home /opt/security-agent',
        'bin/agent-auth --home /opt/security-agent -m manager1',
        "sed -i 's|<address>.*</address>|<address>manager1</address>|' /opt/security-agent/etc/manager.conf",
        'bin/svc-control start --home /opt/security-agent',
      ]);
      expect(wazuhCommands(enrolment)).to.match(/^\/var\/ossec\/bin\/agent-auth -m manager1\n/);
    });

    it('gets ports, password, name and groups where they are wanted', () => {
      const all = { ...enrolment, name: 'w1', groups: ['web', 'db'], port: 2515, agentPort: 2514, needsPassword: true };
      for (const text of [ownCommands(all), wazuhCommands(all)]) {
        expect(text).to.include('-m manager1 -p 2515 -A w1 -G web,db\n');
        expect(text).to.include('<port>2514</port>').and.include("echo 'PASSWORD'");
      }
    });

    it('takes no name or address that a shell would read otherwise', () => {
      for (const name of ['a', 'a b', 'a;b', '$(x)', "a'b", 'x'.repeat(129)]) {
        expect(isAgentName(name), name).to.equal(false);
      }
      for (const host of ['', '-x', 'a b', '`x`', 'a|b']) expect(isHost(host), host).to.equal(false);
      expect([isAgentName('web-01.x_y'), isHost('192.0.2.7'), isHost(hostOf('[2001:db8::1]'))]).to.deep.equal([
        true,
        true,
        true,
      ]);
    });

    it('knows what the manager has in force, and takes what is not known for usual', () => {
      const usual = { port: 1515, agentPort: 1514, needsPassword: false, needsCertificate: false, isOff: false };
      expect(readSettings(undefined, undefined)).to.deep.equal(usual);
      const auth = { port: 2515, use_password: 'yes', remote_enrollment: 'no', ssl_agent_ca: 'etc/ca.pem' };
      const remote = [
        { connection: 'syslog', port: ['514'] },
        { connection: 'secure', port: ['2514'] },
      ];
      expect(readSettings({ auth }, { remote })).to.deep.equal({
        ...{ port: 2515, agentPort: 2514, needsPassword: true, needsCertificate: true, isOff: true },
      });
    });
  });

  it('asks for the history of any file in a way that the API takes', () => {
    for (const path of ['/etc/demo', '/a b/c', '/x;y/long name,z', '/(a)', '/ä&/b+c', ';', '/trailing ']) {
      expect(() => parseQuery(historyQuery(path), String), path).not.to.throw();
    }
    expect(historyQuery('/etc/demo')).to.equal('syscheck.path=/etc/demo');
    expect(historyQuery('/x;y/long name,z')).to.equal('syscheck.path~y/long name');
    const rule = { id: '550', level: 7, description: 'x' };
    const alert = { alert_id: '1', timestamp: '', rule, syscheck: { path: '/x;y' } };
    expect([isAbout(alert, '/x;y'), isAbout(alert, '/x')]).to.deep.equal([true, false]);
  });

  it('reads values wherever they are in a row', () => {
    const row = { name: 'a', size: 1234, local: { ip: '::1' }, 'user.id': '7', groups: ['x'], vendor: ' ', mac: null };
    const values = ['name', 'size', 'local.ip', 'user.id', 'groups', 'vendor', 'mac', 'remote.ip', 'none'];
    expect(values.map((path) => valueAt(row, path))).to.deep.equal([
      ...['a', (1234).toLocaleString(), '::1', '7', '["x"]', '–', '–', '–', '–'],
    ]);
    expect(new Set(INVENTORY_TABLES.map(({ key }) => key)).size).to.equal(INVENTORY_TABLES.length);
    expect(flatten({ sent_breakdown: { ack: 1, none: null }, msg_count: 2 })).to.deep.equal([
      ['sent ack', 1],
      ['msg count', 2],
    ]);
  });
});
