import { expect } from 'chai';
import { ruleSource } from '../../../../api/console/browser/client/rule-source.js';

const FILE = `<group name="local,">
  <!-- <rule id="100001" level="3">
  </rule> -->
  <rule level="5" id='0100001'>
    <description>one</description>
  </rule>

  <rule id="100002" level="0" />

  <rule id="100003"
        level="7">
    <match>x</match>
  </rule>
</group>
`;

describe('console: the source of a rule', () => {
  it('is found with its lines, whatever stands in comments', () => {
    expect(ruleSource(FILE, '100001')?.lines).to.deep.equal([4, 5, 6]);
    expect(ruleSource(FILE, '100002')?.lines).to.deep.equal([8]);
    const third = ruleSource(FILE, '100003');
    expect(third?.lines).to.deep.equal([10, 11, 12, 13]);
    expect(third?.text.split('\n')[10 - (third?.from ?? 0)]).to.include('<rule id="100003"');
    expect(ruleSource(FILE, '10000')).to.equal(undefined);
  });

  it('is the last one where it is written twice', () => {
    expect(ruleSource('<rule id="1" level="1"></rule>\n<rule id="1" level="2"></rule>\n', '1')?.lines).to.deep.equal([
      2,
    ]);
  });
});
