import { expect } from 'chai';
import fc from 'fast-check';
import { decodedOf, DecodingBench } from '../../../../../support/engine/decoding.js';

function bench(plugin: string, options?: ConstructorParameters<typeof DecodingBench>[1]): DecodingBench {
  const xml = `<decoder name="d"><prematch>^\\.</prematch><type>firewall</type><plugin_decoder>${plugin}</plugin_decoder></decoder>`;
  return new DecodingBench(xml, options);
}

describe('plugin decoders', () => {
  describe('PF_Decoder', () => {
    const decode = (log: string): unknown => decodedOf(bench('PF_Decoder').decode(log)).static;
    it('reads addresses, ports, action and protocol', () => {
      expect(decode('rule 2/(match) pass in on hme0: 140.211.166.3.6667 > 192.168.2.10.16290: P 7408:7677(269)')).to.deep.equal({
        action: 'pass', srcip: '140.211.166.3', srcport: '6667', dstip: '192.168.2.10', dstport: '16290', protocol: 'TCP',
      }); // oxfmt-ignore
      expect(decode('rule 4/(match) block in on em0: 10.0.0.1 > 10.0.0.2:  icmp: echo')).to.deep.equal({
        action: 'block', srcip: '10.0.0.1', dstip: '10.0.0.2', protocol: 'ICMP',
      }); // oxfmt-ignore
      expect(decode('x) pass: 1.2.3.4.5 > 1.2.3.4.6: udp')).to.have.property('protocol', 'UDP');
    });
    it('keeps what came before a break', () => {
      expect(decode('no bracket')).to.deep.equal({});
      expect(decode('x)pass')).to.deep.equal({});
      expect(decode('x) drop: 1.2.3.4 > 1.2.3.4: ')).to.deep.equal({});
      expect(decode('x) block on em0')).to.deep.equal({ action: 'block' });
      expect(decode('x) block: 1.2.3.4 < 2')).to.deep.equal({ action: 'block', srcip: '1.2.3.4' });
    });
  });

  describe('SymantecWS_Decoder', () => {
    const decode = (log: string): unknown => decodedOf(bench('SymantecWS_Decoder').decode(log)).static;
    it('reads its members once', () => {
      expect(decode('20060721,10=ann,11=10.0.0.1,60=http://x/y,3=1,2=2,10=bob')).to.deep.equal({
        dstuser: 'ann', srcip: '10.0.0.1', url: 'http://x/y', id: '3=1,2=2,1',
      }); // oxfmt-ignore
      expect(decode('10=first is skipped')).to.deep.equal({});
      expect(decode(`x,60=${'u'.repeat(2000)}`))
        .to.have.property('url')
        .with.length(1024);
    });
  });

  describe('SonicWall_Decoder', () => {
    const decode = (id: number, category: number, tail = ''): ReturnType<typeof decodedOf> =>
      decodedOf(
        bench('SonicWall_Decoder').decode(
          `id=firewall sn=1 time="x" fw=1.1.1.1 pri=5 c=${String(category)} m=${String(id)} msg="x" n=1 src=10.0.0.1:2045:LAN dst=10.0.0.2:443:WAN proto=tcp/https${tail}`,
        ),
      );
    it('reads addresses and classifies by message', () => {
      expect(decode(98, 1)).to.deep.equal({
        decoder: 'd',
        category: 'firewall',
        static: { protocol: 'tcp', action: 'pass', srcip: '10.0.0.1', srcport: '2045', dstip: '10.0.0.2', dstport: '443', id: '98', status: '5' },
        fields: [],
      }); // oxfmt-ignore
      expect([decode(36, 1).static['action'], decode(537, 1).static['action']]).to.deep.equal(['drop', 'close']);
      expect(decode(36, 32)).to.include({ category: 'ids' }).and.have.nested.property('static.id', '36');
      expect(decode(5, 1)).to.have.property('category', 'syslog');
      const page = decode(97, 64, ' op=GET result=404 dstname=example.com arg=/x?y');
      expect([page.category, page.static['id'], page.static['url']]).to.deep.equal(['squid', '404', 'example.com/x?y']);
    });
    it('stops where a pattern fails', () => {
      const decoded = decodedOf(bench('SonicWall_Decoder').decode('pri=5 c=1 m=98 nothing else'));
      expect([decoded.category, decoded.static]).to.deep.equal(['syslog', { status: '5', id: '98' }]);
      expect(decodedOf(bench('SonicWall_Decoder').decode('pri=x')).static).to.deep.equal({});
    });
  });

  describe('OSSECAlert_Decoder', () => {
    const LINE =
      'ossec: Alert Level: 3; Rule: 5501 - Login session opened.; Location: (web) 10.0.0.5->/var/log/auth.log; ' +
      'srcip: 1.2.3.4; user: ann;  Mar  7 09:15:02 gate sshd: x';
    it('becomes the event of the rule it names', () => {
      const event = bench('OSSECAlert_Decoder').decode(LINE, 'mgr2');
      expect(event.location).to.equal('mgr2|(web) 10.0.0.5->/var/log/auth.log');
      expect(event.hostname).to.equal(event.location);
      expect([event.fullLog, event.log]).to.deep.equal(Array(2).fill('Mar  7 09:15:02 gate sshd: x'));
      expect([event.category, event.generatedRule, event.srcip, event.dstuser]).to.deep.equal([
        'ossec-alert',
        5501,
        '1.2.3.4',
        'ann',
      ]);
    });
    it('stays without a rule where the line breaks off or the rule is unknown', () => {
      for (const log of [
        'Alert Level: 3',
        LINE.slice(0, 60),
        LINE.replace('Location', 'Place'),
        LINE.replace(';  Mar', ' Mar'),
        'other',
      ]) {
        const event = bench('OSSECAlert_Decoder').decode(log);
        expect([event.category, event.generatedRule, event.log], log).to.deep.equal(['ossec-alert', undefined, log]);
      }
      const strict = bench('OSSECAlert_Decoder', { ruleExists: (id) => id !== 5501 });
      expect(strict.decode(LINE).generatedRule).to.equal(undefined);
      expect(strict.diagnostics.lines).to.deep.equal([`warn Rule id '5501' not found internally: ${LINE}`]);
    });
    it('limits location and log', () => {
      const event = bench('OSSECAlert_Decoder').decode(LINE.replace('(web)', 'w'.repeat(400)) + 'x'.repeat(5000));
      expect([event.location.length, event.log.length]).to.deep.equal([254, 4094]);
    });
  });

  describe('JSON_Decoder', () => {
    const decode = (log: string): ReturnType<typeof decodedOf> => decodedOf(bench('JSON_Decoder').decode(log));
    it('maps top-level keys to members', () => {
      const keys = [
        'srcip',
        'dstip',
        'srcport',
        'dstport',
        'protocol',
        'action',
        'srcuser',
        'id',
        'status',
        'url',
        'data',
        'extra_data',
      ];
      const text = `{${[...keys, 'systemname', 'system_name', 'SRCIP', 'a'].map((k) => `"${k}":"${k}"`).join(',')},"b":{"srcip":"c"}}`;
      expect(decode(text)).to.deep.include({
        static: { ...Object.fromEntries(keys.map((k) => [k, k])), system_name: 'systemname' },
        fields: [['system_name', 'system_name'], ['SRCIP', 'SRCIP'], ['a', 'a'], ['b.srcip', 'c']],
      }); // oxfmt-ignore
    });
    it('takes user for dstuser as long as that is not there', () => {
      expect(decode('{"user":"a","user":"b","id":"1","id":"2"}')).to.deep.include({
        static: { dstuser: 'a', id: '2' },
        fields: [['user', 'b']],
      });
      expect(decode('{"user":"","user":"b","dstuser":"c"}')).to.deep.include({ static: { dstuser: 'c' }, fields: [] });
    });
    it('gives nothing for what is no JSON', () => {
      expect(decode('{"srcip":"x",')).to.deep.equal({ decoder: 'd', category: 'firewall', static: {}, fields: [] });
    });
    it('drops fields beyond the limit, and says so', () => {
      const limited = bench('JSON_Decoder', { orderSize: 32 });
      const event = limited.decode(`{${Array.from({ length: 40 }, (_, i) => `"f${String(i)}":1`).join(',')},"id":"x"}`);
      expect([event.fieldNames.length, event.id]).to.deep.equal([32, 'x']);
      expect(limited.diagnostics.lines).to.deep.equal(['error Too many fields for JSON decoder.']);
    });
    it('refuses the offset after_regex at each event', () => {
      const xml =
        '<decoder name="r"><prematch>^x</prematch></decoder><decoder name="c"><parent>r</parent><prematch>^x</prematch>' +
        '<plugin_decoder offset="after_regex">JSON_Decoder</plugin_decoder></decoder>';
      const odd = new DecodingBench(xml);
      expect(odd.decode('x{"a":1}').fieldNames).to.deep.equal([]);
      expect(odd.diagnostics.lines).to.deep.equal(['error At JSON Decoder: invalid offset value. @test.xml:1']);
    });
  });

  it('never fail', () => {
    const piece = fc.constantFrom(
      ') ',
      'p',
      'b',
      ': ',
      ' > ',
      '1.2.3.4.5',
      ',',
      '10=',
      '3=',
      'pri=1 c=2 m=3 ',
      'src=1.1.1.1:1:x dst=2.2.2.2:2:',
      ' proto=',
      '; ',
      ';  ',
      'ossec: Alert Level: 3; Rule: 5 - x; Location: ',
      'srcip: ',
      'user: ',
    );
    for (const plugin of ['PF_Decoder', 'SymantecWS_Decoder', 'SonicWall_Decoder', 'OSSECAlert_Decoder']) {
      const tested = bench(plugin);
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 15 }), (pieces) => {
          const log = pieces.join('');
          expect(decodedOf(tested.decode(log))).to.deep.equal(decodedOf(tested.interpret(log)));
        }),
        { numRuns: 500 },
      );
    }
  });
});
