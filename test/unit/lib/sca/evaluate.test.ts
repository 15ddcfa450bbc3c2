import { expect } from 'chai';
import { type CommandRunner, Evaluator, type Looker } from '../../../../lib/sca/evaluate.js';
import { type Finding, FOUND, invalid, NOT_FOUND } from '../../../../lib/sca/finding.js';
import type { LookOrder } from '../../../../lib/sca/look.js';
import type { Condition, PolicyRule, RuleSet } from '../../../../lib/sca/policy.js';
import { splitRule } from '../../../../lib/sca/sca-rule.js';

const NEVER = new AbortController().signal;
const LETTERS: Readonly<Record<string, Finding>> = { F: 'found', N: 'not-found', I: 'invalid' };

function rulesOf(...texts: string[]): PolicyRule[] {
  return texts.map((text) => ({ text, expanded: text, kind: splitRule(text).kind }));
}
function setOf(condition: Condition, ...texts: string[]): RuleSet {
  return { title: 't', condition, language: 'osregex', rules: rulesOf(...texts) };
}

/** Answers `f:/<letter>` by its letter, and keeps what it was asked. */
class LetterLooker implements Looker {
  readonly orders: LookOrder[] = [];
  async look(order: LookOrder) {
    this.orders.push(order);
    await Promise.resolve();
    const finding = LETTERS[order.rule.slice(-1)];
    return finding === 'found' ? FOUND : finding === 'not-found' ? NOT_FOUND : invalid(`reason ${order.rule}`);
  }
}

/** The table of integrity-and-inventory.md 10.3, as it is written there. */
function expected(condition: Condition, letters: string): { readonly result: string; readonly looked: number } {
  const decisive = condition === 'all' ? 'N' : 'F';
  const at = letters.indexOf(decisive);
  const looked = at < 0 ? letters.length : at + 1;
  if (at >= 0) return { result: condition === 'any' ? 'passed' : 'failed', looked };
  if (letters.includes('I')) return { result: 'na', looked };
  return { result: condition === 'any' ? 'failed' : 'passed', looked };
}

describe('the evaluation of a check', () => {
  let looker: LetterLooker;
  const evaluate = (
    set: RuleSet,
    refusal?: (line: string) => string,
    commands: CommandRunner = { run: () => Promise.resolve([]) },
  ) => {
    looker = new LetterLooker();
    return new Evaluator({ looker, commands, skipNfs: true, base: '' }).evaluate(set, refusal, NEVER);
  };

  const letters = ['F', 'N', 'I'];
  const all = [...letters, ...letters.flatMap((a) => letters.map((b) => a + b))];
  const threes = all.filter((each) => each.length === 2).flatMap((two) => letters.map((c) => two + c));
  for (const condition of ['all', 'any', 'none'] as const) {
    it(`by condition '${condition}' is that of the table for up to three rules`, async () => {
      for (const each of [...all, ...threes]) {
        const { result, rules, reason } = await evaluate(
          setOf(condition, ...[...each].map((letter) => `f:/${letter}`)),
        );
        const wanted = expected(condition, each);
        expect([each, result, rules.length, looker.orders.length]).to.deep.equal([
          ...[each, wanted.result],
          ...[wanted.looked, wanted.looked],
        ]);
        expect(reason).to.equal(result === 'na' ? 'reason f:/I' : undefined);
      }
    });
  }

  it('says what was looked at, each once and in order, and not what was not', async () => {
    const { looked } = await evaluate(
      setOf('any', 'f:/a,/N -> N', 'f:/a,/N -> N', 'not d:/d -> r:x -> N', 'p:r:N', 'c:cmd x -> N', 'f:/F', 'f:/never'),
    );
    expect(looked).to.deep.equal({
      ...{ file: ['/a,/N', '/F'], directory: ['/d'], process: ['r:N'], command: ['cmd x'] },
    });
  });

  it('runs commands with a pattern alone, and hands on what they print or why there is nothing', async () => {
    const ran: string[] = [];
    const commands: CommandRunner = {
      run: (line) => {
        ran.push(line);
        return Promise.resolve(line === 'bad' ? { reason: 'it is bad' } : ['a', 'b']);
      },
    };
    const { result } = await evaluate(setOf('all', 'c:one -> F', 'c:plain/F'), undefined, commands);
    expect([result, ran]).to.deep.equal(['passed', ['one']]);
    expect(looker.orders.map(({ output }) => output)).to.deep.equal([['a', 'b'], undefined]);
    const bad = await evaluate(setOf('all', 'not c:bad -> F'), undefined, commands);
    expect([bad.result, bad.reason, looker.orders.length]).to.deep.equal(['na', 'it is bad', 0]);
  });

  it('runs no command of a policy that must not, whatever it asks for', async () => {
    const ran: string[] = [];
    const commands: CommandRunner = {
      run: (line) => {
        ran.push(line);
        return Promise.resolve([]);
      },
    };
    for (const rule of ['c:id -> F', 'c:id', 'not c:id -> r:x']) {
      const { result, reason } = await evaluate(setOf('any', rule), (line) => `no '${line}'`, commands);
      expect([result, reason]).to.deep.equal(['na', "no 'id'"]);
    }
    expect(ran).to.deep.equal([]);
  });

  it('takes a look that fails for one that says nothing, and ends when it is called off', async () => {
    const failing: Looker = { look: () => Promise.reject(new Error('the thread broke')) };
    const evaluator = new Evaluator({
      looker: failing,
      commands: { run: () => Promise.resolve([]) },
      skipNfs: true,
      base: '',
    });
    expect(await evaluator.evaluate(setOf('all', 'f:/a'), undefined, NEVER)).to.include({
      result: 'na',
      reason: 'the thread broke',
    });
    const off = await evaluator
      .evaluate(setOf('all', 'f:/a'), undefined, AbortSignal.abort(new Error('off')))
      .catch((error: unknown) => error);
    expect(off).to.have.property('message', 'off');
  });
});
