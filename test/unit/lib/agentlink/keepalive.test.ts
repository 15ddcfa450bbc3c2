import { expect } from 'chai';
import fc from 'fast-check';
import { parseUname } from '../../../../daemons/remoted/link/uname-line.js';
import { type AgentLabel, buildKeepalive, labelNames, parseKeepalive } from '../../../../lib/agentlink/keepalive.js';

const DEBIAN = 'Linux |vm |6.18.44-fc-v595 |#1 SMP PREEMPT_DYNAMIC @0 |x86_64 [Debian GNU/Linux|debian: 12 (bookworm)]';
const SUM = '24a80d1144a2f4241b5cffa6892b2955';
const MERGED = 'fe920c9b2e16ab18949883457ffcc2e8';

describe('keepalives', () => {
  it('are read as a recorded agent sent them', () => {
    const text =
      `${DEBIAN} - Wazuh v4.14.7 / ${SUM}\n"ref.site":lab\n!"ref.hidden":h1\n#!"_both":b\n` +
      `${MERGED} merged.mg\n#"_agent_ip":127.0.0.1\n`;
    const keepalive = parseKeepalive(text);
    expect({ ...keepalive, labels: [...keepalive.labels] }).to.deep.equal({
      uname: DEBIAN,
      version: 'Wazuh v4.14.7',
      configSum: SUM,
      mergedSum: MERGED,
      agentIp: '127.0.0.1',
      labels: [
        ['"ref.site"', 'lab'],
        ['!"ref.hidden"', 'h1'],
        ['#!"_both"', 'b'],
      ],
    });
    expect([...labelNames(keepalive.labels)]).to.deep.equal([
      ['ref.site', 'lab'],
      ['!ref.hidden', 'h1'],
      ['!_both', 'b'],
    ]);
  });

  it('are read as an old agent sent them, with noise at the end', () => {
    const uname = 'Linux vm 6.18.44-fc-v595 #1 SMP PREEMPT_DYNAMIC @0 x86_64';
    const keepalive = parseKeepalive(`${uname} - OSSEC HIDS v4.2.0\nx merged.mg\n\n03@oS - "x":y / #!`);
    expect(keepalive).to.deep.include({ uname, version: 'OSSEC HIDS v4.2.0', mergedSum: 'x', agentIp: undefined });
    expect(keepalive.labels.size).to.equal(0);
    expect(parseUname(uname)).to.deep.equal({ arch: 'x86_64', uname });
  });

  it('tell nothing where nothing can be read', () => {
    const nothing = {
      uname: undefined,
      version: undefined,
      configSum: undefined,
      mergedSum: undefined,
      agentIp: undefined,
    };
    for (const text of [
      '',
      'no line feed - v1',
      '\n\n',
      '"open\n#\n!\nabc\n merged.mg\nx other\n',
      '#"_agent_ip":\n',
    ]) {
      const keepalive = parseKeepalive(text);
      expect({ ...nothing, ...keepalive, labels: 0 }, text).to.deep.equal({ ...nothing, labels: 0 });
      expect(keepalive.labels.size, text).to.equal(0);
    }
  });

  it('are built as the recorded agent built them', () => {
    const parts = { uname: DEBIAN, version: 'Wazuh v4.14.7', agentIp: '127.0.0.1' };
    expect(buildKeepalive(parts, [])).to.equal(`#!-${DEBIAN} - Wazuh v4.14.7\nx merged.mg\n#"_agent_ip":127.0.0.1\n`);
    const labels: AgentLabel[] = [
      { key: 'ref.site', value: 'lab' },
      { key: 'ref.hidden', value: 'h1', hidden: true },
      { key: '_sys', value: 'a\nb' },
    ];
    expect(buildKeepalive({ ...parts, configSum: SUM, mergedSum: MERGED, agentIp: undefined }, labels)).to.equal(
      `#!-${DEBIAN} - Wazuh v4.14.7 / ${SUM}\n"ref.site":lab\n!"ref.hidden":h1\n#"_sys":a b\n${MERGED} merged.mg\n\n`,
    );
  });

  it('leave out labels that do not fit, and say so', () => {
    const labels = Array.from({ length: 100 }, (_, index) => ({ key: `k${index}`, value: 'v'.repeat(1000) }));
    const text = buildKeepalive({ uname: 'u', version: 'v' }, labels);
    expect(Buffer.byteLength(text)).to.be.lessThan(64_000);
    expect(text).to.include('\nNot all labels are being shown in this message\nx merged.mg\n');
    expect(parseKeepalive(text.slice(3)).labels.size).to.equal(63);
  });

  it('come back as they were built, and survive any text', () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9. ]{0,20}$/);
    const labels = fc.uniqueArray(fc.record({ key: word, value: fc.string(), hidden: fc.boolean() }), {
      maxLength: 10,
      selector: ({ key, hidden }) => `${key} ${String(hidden)}`,
    });
    fc.assert(
      fc.property(
        word,
        word,
        fc.option(fc.constant(SUM), { nil: undefined }),
        labels,
        (uname, version, configSum, list) => {
          const read = parseKeepalive(buildKeepalive({ uname, version, configSum, agentIp: '::1' }, list).slice(3));
          expect(read).to.deep.include({ uname, version, configSum, mergedSum: 'x', agentIp: '::1' });
          expect([...labelNames(read.labels).values()]).to.have.members(
            list.map(({ value }) => value.replaceAll('\n', ' ')),
          );
        },
      ),
      { numRuns: 200 },
    );
    const noise = fc.array(fc.oneof(fc.string(), fc.constantFrom('\n', '"', '":', ' - ', ' / ', '#!"', ' merged.mg')));
    fc.assert(
      fc.property(noise, (parts) => {
        parseUname(parseKeepalive(parts.join('')).uname ?? '');
      }),
      { numRuns: 500 },
    );
  });
});

describe('identity lines', () => {
  it('are read field by field, odd ones too', () => {
    expect(parseUname('Linux |h |6 |#1 |aarch64 [Alpine]')).to.deep.equal({
      ...{ name: 'Alpine', arch: 'aarch64', uname: 'Linux |h |6 |#1 |aarch64' },
    });
    expect(parseUname('Darwin |mac |22 |x |arm64 [macOS|darwin: 13.4.1 (Ventura)]')).to.deep.include({
      ...{
        name: 'macOS',
        platform: 'darwin',
        version: '13.4.1',
        major: '13',
        minor: '4',
        codename: 'Ventura',
        arch: 'arm64',
      },
    });
    expect(parseUname('Microsoft Windows 11 [Ver: 10.0.22000')).to.deep.equal({
      name: 'Microsoft Windows 11',
      platform: 'windows',
      version: '10.0.22000',
      ...{ major: '10', minor: '0', build: '22000', uname: 'Microsoft Windows 11' },
    });
    expect(parseUname('x [y')).to.deep.equal({ name: 'y', uname: 'x' });
    expect(parseUname('')).to.deep.equal({});
  });
});
