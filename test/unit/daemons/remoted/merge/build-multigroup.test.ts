import { expect } from 'chai';
import { MultigroupBuilder, MultigroupTooLargeError } from '../../../../../daemons/remoted/merge/build-multigroup.js';
import { NO_AGENT_CONF } from '../../../../../daemons/remoted/merge/needed-files.js';
import { MAX_MERGED_BYTES } from '../../../../../daemons/remoted/merge/shared-limits.js';
import { buildMergedFile, parseMergedFile } from '../../../../../lib/agentlink/merged-file.js';
import { MAX_AGENT_CONF_BYTES } from '../../../../../lib/config/agent-conf-file.js';

const merged = (group: string, files: Record<string, string>): Buffer =>
  buildMergedFile(
    group,
    Object.entries(files).map(([name, text]) => ({ name, content: Buffer.from(text) })),
  );

const NONE: [string, string] = ['agent.conf', NO_AGENT_CONF.toString()];

describe('building the merged file of several groups', () => {
  const build = (groups: Record<string, Record<string, string>>, arConf?: string): [string, string][] => {
    const builder = new MultigroupBuilder();
    for (const [group, files] of Object.entries(groups)) {
      const shared = arConf === undefined ? {} : { 'ar.conf': arConf };
      builder.add({ group, merged: merged(group, { ...shared, ...files }), hasSharedArConf: arConf !== undefined });
    }
    const content = builder.build(Object.keys(groups), arConf === undefined ? undefined : Buffer.from(arConf));
    return parseMergedFile(content, true).map((entry) => [entry.name, entry.content.toString()]);
  };

  it('lets the last group win, and keeps every agent.conf', () => {
    expect(
      build(
        {
          a: { 'agent.conf': '1', x: 'a', 'sub/agent.conf': 'a' },
          b: { 'agent.conf': '2\n', x: 'b', 'sub/agent.conf': 'b' },
        },
        'ar',
      ),
    ).to.deep.equal([
      ['ar.conf', 'ar'],
      ['agent.conf', '<!-- Source file: a/agent.conf -->\n1<!-- Source file: b/agent.conf -->\n2\n'],
      ['sub/agent.conf', 'b'],
      ['x', 'b'],
    ]);
  });

  it('has a source line also where one group only has an agent.conf', () => {
    expect(build({ a: { x: '1' }, b: { 'agent.conf': '2' } })).to.deep.equal([
      ['agent.conf', '<!-- Source file: b/agent.conf -->\n2'],
      ['x', '1'],
    ]);
  });

  it('names no source where a group had no agent.conf, and has one for agents when none of them has', () => {
    const [name, text] = NONE;
    expect(build({ a: { [name]: text, x: '1' }, b: { [name]: '2' } }, 'ar')).to.deep.equal([
      ['ar.conf', 'ar'],
      ['agent.conf', '<!-- Source file: b/agent.conf -->\n2'],
      ['x', '1'],
    ]);
    expect(build({ a: { [name]: text }, b: { [name]: text } }, 'ar')).to.deep.equal([['ar.conf', 'ar'], NONE]);
  });

  it('does not give agents a file and a folder of one name', () => {
    expect(build({ a: { 'x/y': '1', 'x/z/w': '2', 'xx/y': '3' }, b: { x: '4' } })).to.deep.equal([
      NONE,
      ['x', '4'],
      ['xx/y', '3'],
    ]);
    expect(build({ a: { x: '1', 'y/z': '2' }, b: { 'x/y/z': '3' } })).to.deep.equal([
      NONE,
      ['x/y/z', '3'],
      ['y/z', '2'],
    ]);
  });

  it('refuses an agent.conf that is larger than agents read', () => {
    const builder = new MultigroupBuilder();
    const content = Buffer.alloc(MAX_AGENT_CONF_BYTES, ' ');
    const add = (group: string): void => {
      builder.add({ group, merged: buildMergedFile(group, [{ name: 'agent.conf', content }]), hasSharedArConf: false });
    };
    add('a');
    add('b');
    expect(() => {
      add('c');
    }).to.throw(MultigroupTooLargeError, 'agent.conf');
  });

  it('refuses more than is sent to agents', () => {
    const builder = new MultigroupBuilder();
    const half = Buffer.alloc(MAX_MERGED_BYTES / 2);
    const add = (group: string, name: string): void => {
      builder.add({ group, merged: buildMergedFile(group, [{ name, content: half }]), hasSharedArConf: false });
    };
    add('a', 'x');
    add('b', 'y');
    add('c', 'y');
    expect(() => {
      add('d', 'z');
    }).to.throw(MultigroupTooLargeError);
  });
});
