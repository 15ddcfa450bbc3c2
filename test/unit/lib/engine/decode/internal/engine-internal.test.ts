import { expect } from 'chai';
import { EngineState } from '../../../../../../lib/engine/engine-state.js';
import { readLocation } from '../../../../../../lib/engine/predecode/read-location.js';
import { group, loadTestRuleset, TestEngine } from '../../../../../support/engine/engine-kit.js';

const RULES = group(
  `<rule id="100" level="7"><category>ossec</category><decoded_as>syscheck_integrity_changed</decoded_as>
     <description>Changed: $(file)</description></rule>
   <rule id="101" level="3"><if_sid>100</if_sid><field name="size">^13$</field><match>Size changed</match>
     <description>Size of $(file)</description></rule>
   <rule id="110" level="7"><category>ossec</category><decoded_as>rootcheck</decoded_as><description>r</description></rule>
   <rule id="111" level="9"><if_sid>110</if_sid><if_fts/><description>first: $(title)</description></rule>
   <rule id="120" level="5"><category>ossec</category><decoded_as>windows_eventchannel</decoded_as>
     <field name="win.system.eventID">^7$</field><description>w</description></rule>`,
);

const FIM = JSON.stringify({
  type: 'event',
  data: {
    path: '/etc/demo', version: 2, mode: 'realtime', type: 'modified', timestamp: 1, attributes: { type: 'file', size: 13 },
    old_attributes: { type: 'file', size: 12 }, changed_attributes: ['size'],
  },
}); // oxfmt-ignore

describe('internal decoders in the engine', () => {
  const requests: string[] = [];
  const ruleset = loadTestRuleset(RULES);
  let test: TestEngine;
  const send = (queue: string, message: string): ReturnType<TestEngine['send']> =>
    test.engine.process({ ...readLocation('[004] (web-02) any->x'), queue, message, receivedAt: test.now * 1000 });

  beforeEach(() => {
    requests.length = 0;
    const requestScaDump = (agentId: string, policyId: string, first: boolean): void => {
      requests.push(`${agentId} ${policyId} ${String(first)}`);
    };
    test = new TestEngine(ruleset, { hooks: { requestScaDump } });
  });

  it('decide about rules', () => {
    const outcome = send('8', FIM);
    expect([outcome.rule?.rule.id, outcome.alert.description, outcome.isAlert]).to.deep.equal([
      101,
      'Size of /etc/demo',
      true,
    ]);
    expect(test.engine.alertJson(outcome.alert, { id: '1.1' })).to.contain('"syscheck":{"path":"/etc/demo"');
    expect(send('f', JSON.stringify({ Event: '<E><System><EventID>7</EventID></System></E>' })).rule?.rule.id).to.equal(
      120,
    );
  });

  it('show inodes of 64 bits as they are, and the attributes of a file in the text form', () => {
    const { data } = JSON.parse(FIM) as { data: Record<string, unknown> };
    const attributes = {
      type: 'file',
      size: 13,
      inode: '18446744073709551615',
      uid: '0',
      user_name: 'root',
      perm: 'rw-r--r--',
    };
    const old = { type: 'file', size: 12, inode: '4294967297' };
    const message = JSON.stringify({
      type: 'event',
      data: { ...data, attributes, old_attributes: old, tags: 'a,b', content_changes: '1c1\n' },
    });
    const { alert } = send('8', message);
    const json = test.engine.alertJson(alert, { id: '1.1' });
    expect(json).to.contain('"inode_before":4294967297,"inode_after":18446744073709551615,');
    expect(test.engine.alertText(alert, '1.1')).to.contain(
      'Attributes:\n - Size: 13\n - Permissions: rw-r--r--\n - Inode: 18446744073709551615\n - User: root (0)\n' +
        '\nWhat changed:\n1c1\n\n\nTags:\n - a\n - b\n',
    );
  });

  it('leave messages that hold nothing for the rules out', () => {
    const outcome = send('8', '{"type":"scan_start","data":{"timestamp":5}}');
    expect([outcome.disposition, outcome.rule, outcome.isAlert]).to.deep.equal(['discarded', undefined, false]);
  });

  it('tell whose results of a policy are asked for', () => {
    const summary = {
      ...{
        type: 'summary',
        scan_id: 7,
        name: 'Demo',
        policy_id: 'demo',
        file: 'demo.yml',
        passed: 1,
        failed: 0,
        invalid: 0,
      },
      ...{ total_checks: 1, score: 100, start_time: 1, end_time: 2, hash: 'ee', hash_file: 'ff', first_scan: 1 },
    };
    expect(send('p', JSON.stringify(summary)).disposition).to.equal('discarded');
    expect(requests).to.deep.equal(['004 demo true']);
  });

  it('remember over a reload and a restart', () => {
    const rule = (): number | undefined => send('9', 'Something found.').rule?.rule.id;
    expect([rule(), rule()]).to.deep.equal([111, 110]);
    const { state } = test.engine;
    test = new TestEngine(ruleset, { state: state.transferTo(ruleset.rules) });
    expect(rule()).to.equal(110);
    const restarted = new EngineState(ruleset.rules);
    restarted.restore(JSON.parse(JSON.stringify(state.snapshot())) as ReturnType<EngineState['snapshot']>);
    test = new TestEngine(ruleset, { state: restarted });
    expect(rule()).to.equal(110);
    test = new TestEngine(ruleset);
    expect(rule()).to.equal(111);
  });
});
