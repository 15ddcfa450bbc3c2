import { expect } from 'chai';
import { eventLabels, keepaliveChanges, tableId } from '../../../../daemons/remoted/agent-report.js';
import { MAX_LABELS } from '../../../../daemons/remoted/remoted-limits.js';
import { parseKeepalive } from '../../../../lib/agentlink/keepalive.js';
import { agentMethods } from '../../../../lib/bus/contracts/db-agents.js';

const MANAGER = { host: 'manager', node: 'node01' };
const keepalive = (lines: string) =>
  parseKeepalive(
    `Linux |box |6.1 |#1 |x86_64 [Debian GNU/Linux|debian: 12 (bookworm)] - Wazuh v4.14.7 / abc\n${lines}`,
  );

describe('what keepalives tell', () => {
  it('becomes values of the table, with the labels of the manager', () => {
    const changes = keepaliveChanges(keepalive('"site":north\nx merged.mg\n#"_agent_ip":10.0.0.7\n'), MANAGER);
    expect(changes).to.deep.include({
      ip: '10.0.0.7',
      version: 'Wazuh v4.14.7',
      configSum: 'abc',
      mergedSum: 'x',
      manager: 'manager',
      nodeName: 'node01',
    });
    expect(changes.labels).to.deep.equal([
      ['"site"', 'north'],
      ['#"_manager_hostname"', 'manager'],
      ['#"_agent_ip"', '10.0.0.7'],
      ['#"_node_name"', 'node01'],
      ['#"_wazuh_version"', 'Wazuh v4.14.7'],
    ]);
  });

  it('clears what it does not tell any more', () => {
    const changes = keepaliveChanges(parseKeepalive('\n'), MANAGER);
    expect(changes).to.deep.include({ os: null, version: null, configSum: null, mergedSum: null });
    expect(changes).not.to.have.property('ip');
  });

  it('never spoils a call, whatever an agent writes', () => {
    const long = 'x'.repeat(50_000);
    const many = Array.from({ length: 2000 }, (_, index) => `"label${String(index)}":v\n`).join('');
    for (const lines of [many, `"${long}":v\n`, `${long} merged.mg\n#"_agent_ip":${long}\n`]) {
      const told = keepalive(lines);
      const changes = keepaliveChanges(told, MANAGER);
      const call = { agents: [{ id: '001', at: 1, changes }] };
      expect(agentMethods['agents.keepalives'].params.safeParse(call).error).to.equal(undefined);
      expect(eventLabels(told)?.size ?? 0).to.be.at.most(MAX_LABELS);
    }
    const odd = parseKeepalive(`${long} [${long}|${long}: ${long} (${long})] - ${long} / ${long}\n`);
    const call = { agents: [{ id: '001', at: 1, changes: keepaliveChanges(odd, MANAGER) }] };
    expect(agentMethods['agents.keepalives'].params.safeParse(call).error).to.equal(undefined);
  });

  it('gives ids three digits', () => {
    expect(['1', '001', '12345'].map(tableId)).to.deep.equal(['001', '001', '12345']);
  });
});
