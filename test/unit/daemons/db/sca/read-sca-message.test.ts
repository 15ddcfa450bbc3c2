import { expect } from 'chai';
import fc from 'fast-check';
import {
  type CheckDefinition,
  type CheckRow,
  decodeCheck,
  decodeDefinition,
  encodeCheck,
  encodeDefinition,
} from '../../../../../daemons/db/sca/check-row.js';
import { readScaMessage } from '../../../../../daemons/db/sca/read-sca-message.js';
import { StoreError } from '../../../../../lib/store/store-error.js';
import { policiesMessage, PolicyScan } from '../../../../support/db/sca-kit.js';

const scan = new PolicyScan('demo', 7, { 1: 'passed', 2: 'not applicable' });
const MESSAGES = [...scan.checks(), scan.summary({ first_scan: 1 }), scan.dumpEnd(), policiesMessage('demo', 'other')];
const read = (text: string) => readScaMessage(Buffer.from(text));

describe('messages of policy scans', () => {
  it('are read with all that is stored of them', () => {
    expect(read(scan.check(2))).to.deep.equal({
      ...{ type: 'check', policyId: 'demo', policy: 'Policy demo', scanId: 7, id: 2 },
      ...{ result: 'not applicable', reason: "Could not open file '/etc/2'" },
      definition: {
        ...{ title: 'Check 2 of demo', description: 'Describes', rationale: 'Why', remediation: 'How' },
        ...{ file: '/etc/file2', process: undefined, directory: undefined, registry: undefined, command: undefined },
        ...{ references: undefined, condition: 'all' },
        compliance: [
          ['cis', '5.2.2'],
          ['pci_dss', '2.2.4,2.2.5'],
        ],
        rules: [
          ['file', 'f:/etc/file2 -> r:^yes'],
          ['numeric', 'not c:true -> r:2'],
        ],
      },
    });
    expect(read(scan.summary({ first_scan: 1 }))).to.include({ score: 66, isFirst: true, scanId: 7, total: 2 });
    expect(read(policiesMessage('a', 'b'))).to.deep.equal({ type: 'policies', policies: ['a', 'b'] });
    expect(read(scan.dumpEnd())).to.deep.equal({ type: 'dump_end', policyId: 'demo', scanId: 7 });
  });

  it('have tags of any name, and texts that are no UTF-8', () => {
    const check = read(scan.check(1, { compliance: JSON.parse('{"__proto__":"1","constructor":"2"}') as object }));
    expect(check).to.have.deep.nested.property('definition.compliance', [
      ['__proto__', '1'],
      ['constructor', '2'],
    ]);
    const bytes = Buffer.from(scan.check(1, { title: 'a\u0000?\u0000b' }).replace('\\u0000?\\u0000', '\xff'), 'latin1');
    expect(readScaMessage(bytes)).to.have.nested.property('definition.title', 'a\ufffdb');
  });

  it('never make it fail, whatever is altered in them', () => {
    const piece = fc.oneof(
      fc.constantFrom('"', '{', '}', '[]', 'null', '-1', '1e400', '\\u0000', '99999999999999999999'),
      fc.string(),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...MESSAGES),
        fc.array(fc.tuple(fc.nat(), fc.nat(20), piece), { maxLength: 4 }),
        (message, edits) => {
          let text = message;
          for (const [at, length, inserted] of edits) {
            const from = at % (text.length + 1);
            text = text.slice(0, from) + inserted + text.slice(from + length);
          }
          read(text);
        },
      ),
    );
    const member = fc.constantFrom(
      'type',
      'check',
      'policy_id',
      'id',
      'scan_id',
      'policies',
      'hash',
      'rules',
      'compliance',
    );
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('check', 'summary', 'policies', 'dump_end'));
    fc.assert(
      fc.property(fc.dictionary(member, value), (message) => {
        read(JSON.stringify(message));
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(readScaMessage(bytes)).to.equal(undefined);
      }),
    );
  });
});

describe('stored checks', () => {
  const text = fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined });
  const tags = fc.array(fc.tuple(fc.string(), fc.string()), { maxLength: 5 });
  const definition: fc.Arbitrary<CheckDefinition> = fc.record({
    ...{ title: fc.string(), description: text, rationale: text, remediation: text, file: text, process: text },
    ...{ directory: text, registry: text, command: text, references: text, condition: text },
    ...{ compliance: tags, rules: tags },
  });
  const row: fc.Arbitrary<CheckRow> = fc.record({
    result: fc.constantFrom('passed', 'failed', 'not applicable'),
    reason: text,
    scanId: fc.maxSafeInteger(),
    definition: fc.maxSafeNat(),
  });

  it('are read back as they were', () => {
    fc.assert(
      fc.property(row, definition, (stored, told) => {
        expect(decodeCheck(encodeCheck(stored))).to.deep.equal(stored);
        const { digest, bytes } = encodeDefinition(told);
        expect(decodeDefinition(bytes)).to.deep.equal(told);
        expect(encodeDefinition(told).digest.equals(digest)).to.equal(true);
      }),
    );
  });

  it('that are damaged are errors of the store', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        for (const decode of [decodeCheck, decodeDefinition]) {
          try {
            decode(Buffer.from(bytes));
          } catch (error) {
            expect(error).to.be.instanceOf(StoreError);
          }
        }
      }),
    );
  });
});
