import { expect } from 'chai';
import { renderAgentConf } from '../../../../api/groups/render-agent-conf.js';
import { ConfigError } from '../../../../lib/config/config-error.js';

const render = (text: string) => JSON.parse(JSON.stringify(renderAgentConf(text, 'agent.conf'))) as unknown;

describe('renderAgentConf', () => {
  it('shows each block with its filters and sections', () => {
    expect(
      render(`<agent_config>
        <client_buffer><disabled>no</disabled><queue_size>5000</queue_size></client_buffer>
        <syscheck><directories realtime="yes">/a,/b</directories><frequency>60</frequency></syscheck>
      </agent_config>
      <agent_config os="Linux|Darwin" profile="web" overwrite="yes">
        <localfile><location>/x</location><log_format>syslog</log_format></localfile>
        <localfile><location>/y</location><log_format>json</log_format></localfile>
        <labels><label key="a">1</label></labels>
        <wodle name="command"><tag>t</tag></wodle>
        <wodle name="syscollector"><disabled>no</disabled></wodle>
        <sca><policies><policy>p.yml</policy></policies></sca>
        <socket><name>s</name></socket>
        <gcp-pubsub><project_id>p</project_id></gcp-pubsub>
      </agent_config>`),
    ).to.deep.equal([
      {
        filters: {},
        config: {
          client_buffer: { disabled: 'no', queue_size: '5000' },
          syscheck: {
            directories: [
              { realtime: 'yes', path: '/a' },
              { realtime: 'yes', path: '/b' },
            ],
            frequency: '60',
          },
        },
      },
      {
        filters: { os: 'Linux|Darwin', profile: 'web' },
        config: {
          localfile: [
            { location: '/x', log_format: 'syslog' },
            { location: '/y', log_format: 'json' },
          ],
          labels: [{ label: [{ value: '1', key: 'a' }] }],
          command: [{ tag: 't' }],
          syscollector: { disabled: 'no' },
          sca: { policies: ['p.yml'] },
          socket: [{ name: 's' }],
          'gcp-pubsub': { project_id: 'p' },
        },
      },
    ]);
  });

  it('makes blocks with equal filters one, in whatever order they are written', () => {
    expect(
      render(`<agent_config name="a" os="b"><syscheck><ignore>/x</ignore><frequency>1</frequency></syscheck></agent_config>
        <agent_config name="other"/><other/>
        <Agent_Config os="b" name="a"><syscheck><ignore>/y</ignore><frequency>2</frequency></syscheck></Agent_Config>`),
    ).to.deep.equal([
      { filters: { name: 'a', os: 'b' }, config: { syscheck: { ignore: ['/x', '/y'], frequency: '2' } } },
      { filters: { name: 'other' }, config: {} },
    ]);
  });

  it('takes names for names', () => {
    const text =
      '<agent_config __proto__="x" name="n"><__proto__><a>1</a></__proto__><wodle><b>1</b></wodle></agent_config>';
    const [block] = renderAgentConf(text, 'agent.conf');
    expect(block?.filters).to.deep.equal({ name: 'n' });
    expect(Object.keys(block!.config)).to.deep.equal(['__proto__']);
    expect(({} as Record<string, unknown>)['a']).to.equal(undefined);
  });

  it('names the line of what is no XML', () => {
    expect(() => renderAgentConf('<agent_config>\n<a>\n</agent_config>', 'agent.conf'))
      .to.throw(ConfigError)
      .with.property('line', 2);
  });
});
