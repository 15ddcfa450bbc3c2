import { expect } from 'chai';
import fc from 'fast-check';
import { policiesMessage, PolicyScan, ScaKit } from '../../../../support/db/sca-kit.js';

// integrity-and-inventory.md 10.5.
describe('Agents that mean harm to the store of policies', () => {
  let kit: ScaKit;
  beforeEach(async () => {
    kit = await ScaKit.open();
  });
  afterEach(() => kit.close());

  it('do not use up its slots by naming another file in each summary', async () => {
    const summaryOf = (file: string): string => new PolicyScan('demo', 1, { 1: 'passed' }, file).summary();
    const check = new PolicyScan('demo', 1, { 1: 'passed' }).check(1);
    await kit.take('001', check, summaryOf('a'));
    const nextSlot = (): number | undefined => kit.database.tables.state.get('state')?.nextSlot;
    const before = nextSlot();
    for (const file of ['b', 'c', 'd']) {
      await kit.take('001', summaryOf(file));
      expect(await kit.results('001', 'demo')).to.deep.equal({});
      await kit.take('001', check);
    }
    expect(nextSlot()).to.equal(before);
    expect(await kit.sizes()).to.deep.equal({ policies: 1, checks: 1, definitions: 1, digests: 1 });
    expect(await kit.wrongUses()).to.deep.equal([]);
  });

  it('do not hold the event loop with messages that have much looked at', async () => {
    const results = Object.fromEntries(Array.from({ length: 4096 }, (_none, id) => [id, 'passed' as const]));
    const scan = new PolicyScan('demo', 1, results);
    await kit.take('001', ...scan.checks());
    let longest = 0;
    const began = performance.now();
    let at = began;
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - at);
      at = performance.now();
    }, 1);
    await kit.take('001', ...Array.from({ length: 127 }, () => scan.dumpEnd()));
    clearInterval(timer);
    // A share of the whole, as machines differ: held in one go it would be nearly all of it.
    expect(longest / (performance.now() - began)).to.be.lessThan(0.5);
  });

  it('leave a store that is right, whatever they tell', async () => {
    const scan = new PolicyScan('demo', 5, { 1: 'passed', 2: 'failed' });
    const whole = [scan.summary(), ...scan.checks(), scan.dumpEnd(), policiesMessage('demo'), policiesMessage()];
    const piece = fc.oneof(
      fc.constantFrom(
        '"',
        '{',
        '}',
        '[]',
        'null',
        '-0',
        '1e999',
        '\\u0000',
        '\\ud800',
        '9'.repeat(20),
        '281474976710655',
      ),
      fc.string(),
    );
    const message = fc
      .tuple(fc.constantFrom(...whole), fc.array(fc.tuple(fc.nat(), fc.nat(20), piece), { maxLength: 3 }))
      .map(([text, edits]) =>
        edits.reduce((edited, [at, length, inserted]) => {
          const from = at % (edited.length + 1);
          return edited.slice(0, from) + inserted + edited.slice(from + length);
        }, text),
      );
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 20 }), async (messages) => {
        await kit.take('001', ...messages);
        const { items, total } = await kit.policies();
        expect(items).to.have.length(total);
      }),
      { numRuns: 60 },
    );
    expect(await kit.wrongUses()).to.deep.equal([]);
    const { checks } = await kit.sizes();
    expect(kit.database.stats()).to.include({ checks });
  });
});
