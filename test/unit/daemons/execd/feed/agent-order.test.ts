import { expect } from 'chai';
import { agentOrder } from '../../../../../daemons/execd/feed/agent-order.js';
import { fitAlert } from '../../../../../daemons/execd/feed/fit-alert.js';

describe('the order of a response for an agent', () => {
  const order = (alert: Record<string, unknown> = {}, extraArgs: readonly string[] = []) => ({
    origin: { name: 'node01', module: 'wazuh-analysisd' },
    command: 'block60',
    extraArgs,
    alert,
  });
  const ALERT = {
    id: '1741083330.4711',
    rule: { id: '5712', level: 10 },
    location: '/var/log/auth log',
    data: { srcip: '203.0.113.9', dstuser: "o'neil" },
  };

  it('is JSON from 4.2 on', () => {
    const json =
      '{"version":1,"origin":{"name":"node01","module":"wazuh-analysisd"},"command":"block60",' +
      `"parameters":{"extra_args":["-x","$HOME"],"alert":${JSON.stringify(ALERT)}}}`;
    for (const version of ['Wazuh v4.14.7', 'v4.2.5', 'Wazuh v4.3.0', 'Wazuh v5.0.0', 'Security Manager v4.2.10']) {
      expect(agentOrder(order(ALERT, ['-x', '$HOME']), version), version).to.equal(`execd ${json}`);
    }
  });

  it('has no characters that agents 4.2.0 to 4.2.4 would hand to a shell', () => {
    const text = agentOrder(order({ full_log: "a!b$c'd`e" }), 'Wazuh v4.2.4');
    expect(text).to.contain('"full_log":"a\\\\x21b\\\\x24c\\\\x27d\\\\x60e"');
    expect(text).to.match(/^execd [^!$'`]*$/);
  });

  it('is one line of words for older agents and those of OSSEC-HIDS', () => {
    for (const version of ['Wazuh v4.1.5', 'Wazuh v3.13.6', 'OSSEC HIDS v4.2.0']) {
      expect(agentOrder(order(ALERT), version), version).to.equal(
        "execd block60 o'neil 203.0.113.9 1741083330.4711 5712 /var/log/auth_log - -",
      );
    }
    expect(agentOrder(order({}, ['-a', 'b']), 'Wazuh v4.1.5')).to.equal('execd block60 - - - - - - -a b');
    const file = agentOrder(order({ syscheck: { path: '/tmp/a b;$(reboot)' } }), 'Wazuh v4.1.5');
    expect(file).to.equal(String.raw`execd block60 - - - - - /tmp/a_b\;\$\(reboot\) -`);
    const long = agentOrder(order({ location: 'ü'.repeat(2000) }), 'Wazuh v4.1.5');
    expect(Buffer.byteLength(long)).to.be.within(1020, 'execd '.length + 1023);
  });
});

describe('an alert that is to fit into a message', () => {
  const alert = {
    timestamp: '2025-03-04T10:15:30.250+0100',
    rule: { id: '5712' },
    id: '1.2',
    previous_output: 'p'.repeat(1000),
    full_log: 'f'.repeat(1000),
    data: { srcip: '203.0.113.9', note: 'n'.repeat(1000), win: { eventdata: { ipAddress: '10.0.0.1', x: 'y' } } },
  };

  it('stays as it is when it does', () => {
    expect(fitAlert(alert, 10_000)).to.equal(alert);
  });

  it('loses what programs do not need first', () => {
    const { previous_output: _gone, ...rest } = alert;
    expect(fitAlert(alert, 2500)).to.deep.equal(rest);
  });

  it('keeps whom to act against', () => {
    expect(fitAlert(alert, 500)).to.deep.equal({
      timestamp: alert.timestamp,
      rule: alert.rule,
      id: alert.id,
      data: { srcip: '203.0.113.9', win: { eventdata: { ipAddress: '10.0.0.1' } } },
    });
    expect(fitAlert({ ...alert, location: 'x'.repeat(1000) }, 500)).to.deep.equal({
      timestamp: alert.timestamp,
      id: alert.id,
      data: {},
    });
  });
});
