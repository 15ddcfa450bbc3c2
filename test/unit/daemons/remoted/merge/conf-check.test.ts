import { expect } from 'chai';
import { confCheck } from '../../../../../daemons/remoted/merge/conf-check.js';

const FILE = 'etc/shared/web/agent.conf';
const check = (text: string, mostMs?: number) => confCheck(mostMs)(Buffer.from(text), FILE);
const labels = (count: number): string =>
  Array.from({ length: count }, (_, index) => `<label key="k${String(index)}">value</label>\n`).join('');
const conf = (inner: string): string => `<agent_config><labels>\n${inner}</labels></agent_config>\n`;

describe('the check of an agent.conf', function () {
  this.timeout(120_000);

  it('tells file, line and reason, of a short file and of a long one', async () => {
    for (const count of [10, 5000]) {
      const text = conf(`${labels(count)}<wrong/>\n`);
      const line = String(count + 2);
      expect(await check(text), `${String(count)} labels`)
        .to.include(FILE)
        .and.include(`line ${line}`);
      expect(await check(conf(labels(count)))).to.equal(undefined);
    }
  });

  it('lets others run while it looks at a long file', async () => {
    let turns = 0;
    let goesOn = true;
    const turn = (): void => {
      turns += 1;
      if (goesOn) setImmediate(turn);
    };
    turn();
    const before = turns;
    const many = Array.from({ length: 30 }, () => conf(labels(3000))).join('');
    expect(await check(many)).to.equal(undefined);
    goesOn = false;
    expect(turns - before).to.be.greaterThan(10);
  });

  it('remembers what was good', async () => {
    const good = conf(labels(5000));
    const one = confCheck();
    expect(await one(Buffer.from(good), FILE)).to.equal(undefined);
    // Neither a turn of the loop nor a thread: the answer is there at once.
    const answers: unknown[] = [];
    void one(Buffer.from(good), FILE).then((problem) => answers.push(problem));
    await Promise.resolve();
    await Promise.resolve();
    expect(answers).to.deep.equal([undefined]);
  });

  it('gives up a file that takes too long, and says so', async () => {
    const endless = Array.from({ length: 30 }, () => conf(labels(3000))).join('');
    expect(await check(endless, 1)).to.equal(`'${FILE}' could not be checked within 0.001 s.`);
  });
});
