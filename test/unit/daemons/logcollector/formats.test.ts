import { expect } from 'chai';
import fc from 'fast-check';
import { auditLines } from '../../../../daemons/logcollector/formats/audit.js';
import { ossecAlert, snortFull } from '../../../../daemons/logcollector/formats/block-logs.js';
import { datedLines, mysqlLine } from '../../../../daemons/logcollector/formats/database-logs.js';
import { djbMultilog } from '../../../../daemons/logcollector/formats/djb-multilog.js';
import { jsonLine } from '../../../../daemons/logcollector/formats/json-line.js';
import { fixedLines, regexLines } from '../../../../daemons/logcollector/formats/multi-line.js';
import { nmapLine } from '../../../../daemons/logcollector/formats/nmap.js';
import { SingleLine } from '../../../../daemons/logcollector/formats/single-line.js';
import { LineSplitter, MAX_LINE_BYTES } from '../../../../daemons/logcollector/line-splitter.js';
import type { RecordAssembler } from '../../../../daemons/logcollector/log-record.js';
import { compilePattern } from '../../../../lib/patterns/compile-pattern.js';

/** Messages and ends that an assembler makes of a text; what it holds back at the end is marked. */
function records(assembler: RecordAssembler, content: string): (readonly [string, number])[] {
  const result: (readonly [string, number])[] = [];
  const emit = ({ message, end }: { message: Buffer; end: number }): void => {
    result.push([message.toString('utf8'), end]);
  };
  for (const line of new LineSplitter(0).push(Buffer.from(content))) {
    assembler.add(line, emit);
  }
  const complete = result.length;
  assembler.flush(emit);
  return result.map(([message, end], index) => [index < complete ? message : `held: ${message}`, end] as const);
}
const messages = (assembler: RecordAssembler, content: string): string[] =>
  records(assembler, content).map(([message]) => message);

describe('log formats', () => {
  const now = (): Date => new Date(2024, 2, 7, 9, 15, 2);
  let refused: string[] = [];
  const refuse = (bytes: Buffer): void => {
    refused.push(bytes.toString());
  };
  beforeEach(() => {
    refused = [];
  });

  it('syslog: a line an event, without empty lines', () => {
    expect(records(new SingleLine(), 'a\n\nb b\n')).to.deep.equal([
      ['a', 2],
      ['b b', 7],
    ]);
  });

  it('json: objects without blanks, numbers as they are, labels as members', () => {
    const refused: string[] = [];
    const json = (labels: { key: string; value: string }[]) =>
      new SingleLine(
        jsonLine(labels, (line) => {
          refused.push(line.toString());
        }),
      );
    const lines =
      '{ "a" : 12345678901234567890.10, "b" : "x \\" y\\\\" , "c" : [ 1 , 2 ] }\n{}\n[1]\nnot json\n{"é":"ü"}\n';
    expect(messages(json([]), lines)).to.deep.equal([
      '{"a":12345678901234567890.10,"b":"x \\" y\\\\","c":[1,2]}',
      '{}',
      '{"é":"ü"}',
    ]);
    expect(refused).to.deep.equal(['[1]', 'not json']);
    expect(messages(json([{ key: '@source', value: 'my "app"' }]), '{ }\n{"a":1}\n')).to.deep.equal([
      '{"@source":"my \\"app\\""}',
      '{"a":1,"@source":"my \\"app\\""}',
    ]);
  });

  it('multi-line: a fixed number of lines', () => {
    expect(records(fixedLines(3), 'a\nb\nc\nd\ne\n')).to.deep.equal([
      ['a b c', 6],
      ['held: d e', 10],
    ]);
  });

  it('multi-line-regex: lines that begin, close or make an event', () => {
    const regex = (
      match: 'start' | 'end' | 'all',
      pattern: string,
      replace: 'no-replace' | 'none' | 'wspace' | 'tab',
    ) => regexLines({ pattern, match, replace, timeout: 5 }, compilePattern('pcre2', pattern));
    expect(messages(regex('start', '^\\d', 'no-replace'), '1 a\n at x\n at y\n2 b\n')).to.deep.equal([
      '1 a\n at x\n at y',
      'held: 2 b',
    ]);
    expect(messages(regex('end', ';$', 'wspace'), 'select\n1;\nselect 2;\nrest\n')).to.deep.equal([
      'select 1;',
      'select 2;',
      'held: rest',
    ]);
    expect(messages(regex('all', '(?s)^BEGIN.*END$', 'tab'), 'BEGIN\nx\nEND\nBEGIN END\n')).to.deep.equal([
      'BEGIN\tx\tEND',
      'BEGIN END',
    ]);
    expect(messages(regex('start', '^\\d', 'none'), '1 a\n+b\n2\n')).to.deep.equal(['1 a+b', 'held: 2']);
  });

  it('holds no more than a line may have', () => {
    const line = 'x'.repeat(20_000);
    const got = records(fixedLines(100), `${line}\n${line}\n${line}\n${line}\n`);
    expect(got.map(([message]) => message.length)).to.deep.equal([60_002, 'held: '.length + 20_000]);
    expect(got.every(([message]) => message.length <= MAX_LINE_BYTES)).to.equal(true);
  });

  it('audit: lines of one event', () => {
    const content =
      'type=SYSCALL msg=audit(1700000000.123:7): arch=c000003e\n' +
      'type=PATH msg=audit(1700000000.123:7): item=0\n' +
      'not audit\n' +
      'node=web type=USER_AUTH msg=audit(1700000000.500:8): pid=1\n';
    expect(messages(auditLines(refuse), content)).to.deep.equal([
      'type=SYSCALL msg=audit(1700000000.123:7): arch=c000003e type=PATH msg=audit(1700000000.123:7): item=0',
      'held: node=web type=USER_AUTH msg=audit(1700000000.500:8): pid=1',
    ]);
    const many = Array.from({ length: 70 }, () => 'type=PATH msg=audit(1.1:1): x\n').join('');
    expect(refused).to.deep.equal(['not audit']);
    expect(messages(auditLines(refuse), many)).to.have.length(2);
  });

  it('databases', () => {
    expect(
      messages(
        new SingleLine(mysqlLine(now)),
        'lost\n240307  9:15:02 [Note] up\n  going on\n2024-03-07T09:15:02.123456Z 8 Connect root\n',
      ),
    ).to.deep.equal([
      'MySQL log: 240307 09:15:02 lost',
      'MySQL log: 240307  9:15:02 [Note] up',
      'MySQL log: 240307  9:15:02 going on',
      'MySQL log: 2024-03-07T09:15:02.123456Z 8 Connect root',
    ]);
    expect(
      messages(datedLines(), 'lost\n2024-03-07 09:15:02 UTC LOG: a\n\tb\n[2024-03-07 09:15:03.1 UTC] LOG: c\n'),
    ).to.deep.equal(['lost', '2024-03-07 09:15:02 UTC LOG: a \tb', 'held: [2024-03-07 09:15:03.1 UTC] LOG: c']);
  });

  it('djb-multilog: a syslog header', () => {
    const lines = new SingleLine(djbMultilog('/var/log/qmail/current', 'web', now));
    expect(messages(lines, '@4000000065e9a5a61d2e3f00 status: local\nplain\n')).to.deep.equal([
      'Mar  7 09:15:02 web qmail: status: local',
      'Mar  7 09:15:02 web qmail: plain',
    ]);
  });

  it('nmap: open ports', () => {
    const line =
      'Host: 192.0.2.7 (web)\tPorts: 22/open/tcp//ssh///, 25/closed/tcp//smtp///, 53/open/udp//domain///\tIgnored';
    expect(messages(new SingleLine(nmapLine), `# Nmap\n${line}\nHost: 192.0.2.8 ()\tStatus: Up\n`)).to.deep.equal([
      'Host: 192.0.2.7, open ports: 22(tcp) 53(udp)',
    ]);
  });

  it('blocks of snort and of alerts', () => {
    expect(
      messages(
        snortFull(refuse),
        'junk\n[**] [1:2:3] Scan [**]\n[Priority: 2]\n03/07-09:15:02.1 192.0.2.7 -> 198.51.100.2\n\n',
      ),
    ).to.deep.equal(['[**] [1:2:3] Scan [**] [Priority: 2] 03/07-09:15:02.1 192.0.2.7 -> 198.51.100.2']);
    expect(refused.splice(0)).to.deep.equal(['junk']);
    const alert =
      "** Alert 1.2: - sshd,\n2024 Mar 07 09:15:02 web->/var/log/auth.log\nRule: 5710 (level 5) -> 'Unknown user'\n" +
      'Src IP: 192.0.2.7\nUser: bob\nsshd[1]: Invalid user bob\n\n';
    expect(messages(ossecAlert(refuse), `${alert}** Alert broken\nx\n\n`)).to.deep.equal([
      'ossec: Alert Level: 5; Rule: 5710 - Unknown user; Location: web->/var/log/auth.log; srcip: 192.0.2.7; user: bob;  sshd[1]: Invalid user bob',
    ]);
    expect(refused).to.deep.equal(['** Alert broken\nx']);
  });

  describe('whatever a file holds', () => {
    const start = compilePattern('pcre2', '^\\d');
    const makers: Record<string, () => RecordAssembler> = {
      syslog: () => new SingleLine(),
      json: () => new SingleLine(jsonLine([{ key: 'k', value: 'v' }], () => {})),
      audit: () => auditLines(refuse),
      'multi-line': () => fixedLines(3),
      ...Object.fromEntries(
        (['start', 'end', 'all'] as const).map((match) => [
          match,
          () => regexLines({ pattern: '^\\d', match, replace: 'wspace', timeout: 5 }, start),
        ]),
      ),
      mysql_log: () => new SingleLine(mysqlLine(now)),
      postgresql_log: datedLines,
      'djb-multilog': () => new SingleLine(djbMultilog('/x/prog/current', 'web', () => new Date(0))),
      nmapg: () => new SingleLine(nmapLine),
      'snort-full': () => snortFull(refuse),
      ossecalert: () => ossecAlert(refuse),
    };
    const piece = fc.oneof(
      fc.constantFrom('type=A msg=audit(1:1): x', 'msg=audit(', '[**] [1:1:1] x', '** Alert 1.1: - a,', '{"a":1}', '{'),
      fc.constantFrom('2026-03-20 09:46:40 x', '[2026-03-20 09:46:40.1 CET] x', '070927 16:23:00 x', '@40000000', '\t'),
      fc.constantFrom("Rule: 1 (level 2) -> 'x'", '2026 Mar 20 09:46:40 (a)->/b', 'Src IP: ', 'User: x', '1 x', ''),
      fc.constantFrom('Host: 192.0.2.7 (a)\tPorts: 22/open/tcp//ssh///', 'Host: \tPorts: /open/', 'x'.repeat(40_000)),
      fc.string({ unit: 'binary' }).map((text) => text.replace(/\n/g, '')),
    );
    const files = fc.array(piece, { maxLength: 40 }).map((lines) => lines.map((line) => `${line}\n`).join(''));

    for (const [name, make] of Object.entries(makers)) {
      it(`${name} gives events in the order of the file, none of them empty or too long`, () => {
        fc.assert(
          fc.property(files, (content) => {
            const bytes = Buffer.from(content);
            const assembler = make();
            const got: { message: Buffer; end: number }[] = [];
            for (const line of new LineSplitter(0).push(bytes)) assembler.add(line, (record) => got.push(record));
            assembler.flush((record) => got.push(record));
            expect(assembler.pending).to.equal(false);
            let last = 0;
            for (const { message, end } of got) {
              expect(message.length).to.be.within(1, MAX_LINE_BYTES + 400);
              expect(end).to.be.greaterThan(last);
              expect(bytes[end - 1]).to.equal(10);
              last = end;
            }
          }),
        );
      });
    }

    it('lines that are joined are all there, once and in their order', () => {
      const word = fc.string({ unit: fc.constantFrom('a', 'b', '1', ';'), minLength: 1, maxLength: 5 });
      fc.assert(
        fc.property(fc.array(word, { maxLength: 60 }), fc.integer({ min: 1, max: 9 }), (lines, count) => {
          const content = lines.map((line) => `${line}\n`).join('');
          for (const assembler of [
            fixedLines(count),
            ...(['start', 'end', 'all'] as const).map((match) =>
              regexLines({ pattern: '1', match, replace: 'wspace', timeout: 5 }, compilePattern('pcre2', '1')),
            ),
          ]) {
            const got = messages(assembler, content).map((message) => message.replace(/^held: /, ''));
            expect(got.flatMap((message) => message.split(' '))).to.deep.equal(lines);
          }
        }),
      );
    });

    it('json means the same without its blanks', () => {
      const blanks = fc.constantFrom('', ' ', '\t', '  ');
      fc.assert(
        fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 }), blanks, (value, blank) => {
          const line = Buffer.from(blank + JSON.stringify(value, undefined, blank).replace(/\n/g, blank) + blank);
          const compact = jsonLine([], () => {})(line);
          expect(compact?.toString()).to.equal(JSON.stringify(value));
          const labelled = JSON.parse(
            jsonLine([{ key: '\u0001', value: '"' }], () => {})(line)?.toString() ?? '',
          ) as object;
          expect(labelled).to.deep.equal({ ...(JSON.parse(JSON.stringify(value)) as object), '\u0001': '"' });
        }),
      );
    });
  });
});
