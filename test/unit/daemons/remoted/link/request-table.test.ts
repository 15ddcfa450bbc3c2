import { expect } from 'chai';
import {
  RequestPoolError,
  RequestTable,
  type RequestTimers,
} from '../../../../../daemons/remoted/link/request-table.js';

/** Timers that end when the test says so. */
class ManualTimers implements RequestTimers {
  readonly #due: { at: number; work: () => void }[] = [];
  #now = 0;

  after(milliseconds: number, work: () => void): () => void {
    const timer = { at: this.#now + milliseconds, work };
    this.#due.push(timer);
    return () => {
      const index = this.#due.indexOf(timer);
      if (index >= 0) this.#due.splice(index, 1);
    };
  }

  pass(milliseconds: number): void {
    this.#now += milliseconds;
    for (;;) {
      const index = this.#due.findIndex(({ at }) => at <= this.#now);
      if (index < 0) return;
      this.#due.splice(index, 1)[0]?.work();
    }
  }

  get waiting(): number {
    return this.#due.length;
  }
}

const LIMITS = { most: 3, ackTimeout: 1000, attempts: 4, responseTimeout: 60_000 };

describe('RequestTable', () => {
  const start = (): { timers: ManualTimers; table: RequestTable; sent: string[]; ask: typeof ask } => {
    const timers = new ManualTimers();
    const table = new RequestTable(LIMITS, timers);
    const sent: string[] = [];
    const ask = async (agentId: string, lossy = false): Promise<string> => {
      const send = (counter: string): boolean => sent.push(counter) > 0;
      return (await table.request({ agentId, lossy, send })).toString();
    };
    return { timers, table, sent, ask };
  };

  it('hands each answer to who asked, whatever their order', async () => {
    const { table, timers, sent, ask } = start();
    const [first, second] = [ask('001'), ask('002')];
    expect(sent).to.have.length(2);
    expect(sent.every((counter) => /^[0-9a-f]{8}$/.test(counter))).to.equal(true);
    expect(table.answer('002', sent[1]!.toUpperCase(), Buffer.from('ok two'))).to.equal(true);
    expect(table.answer('001', sent[0]!, Buffer.from('ok one'))).to.equal(true);
    expect([await first, await second]).to.deep.equal(['ok one', 'ok two']);
    expect([table.size, timers.waiting]).to.deep.equal([0, 0]);
  });

  it('takes no answer from another agent, and none twice', async () => {
    const { table, sent, ask } = start();
    const first = ask('001');
    expect(table.answer('002', sent[0]!, Buffer.from('forged'))).to.equal(false);
    expect(table.answer('001', 'ffff', Buffer.from('x'))).to.equal(false);
    expect(table.answer('001', sent[0]!, Buffer.from('ok'))).to.equal(true);
    expect(table.answer('001', sent[0]!, Buffer.from('again'))).to.equal(false);
    expect(await first).to.equal('ok');
  });

  it('ends without an answer after a minute, over TCP', async () => {
    const { table, timers, sent, ask } = start();
    const first = ask('001');
    timers.pass(30_000);
    // Words that it has come give no more time.
    table.answer('001', sent[0]!, Buffer.from('ack'));
    timers.pass(29_999);
    expect(table.size).to.equal(1);
    timers.pass(1);
    expect(await first).to.equal('err Response timeout');
    expect(sent).to.have.length(1);
  });

  it('sends again over UDP until the agent has it, then waits', async () => {
    const { table, timers, sent, ask } = start();
    const first = ask('001', true);
    timers.pass(1000);
    expect(sent).to.deep.equal([sent[0], sent[0]]);
    table.answer('001', sent[0]!, Buffer.from('ack'));
    timers.pass(59_000);
    table.answer('001', sent[0]!, Buffer.from('ack'));
    timers.pass(1000);
    expect(await first).to.equal('err Response timeout');
    const second = ask('001', true);
    for (let second = 0; second < 4; second += 1) timers.pass(1000);
    expect(await second).to.equal('err Maximum attempts exceeded');
    expect(sent).to.have.length(6);
    expect(timers.waiting).to.equal(0);
  });

  it('refuses more than it may hold, and ends those of an agent that is gone', async () => {
    const { table, ask } = start();
    const asked = [ask('001'), ask('001'), ask('002')];
    const refused = await ask('003').catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(RequestPoolError);
    table.cancel('001');
    expect(await Promise.all(asked.slice(0, 2))).to.deep.equal(['err Cannot send request', 'err Cannot send request']);
    expect(table.size).to.equal(1);
    table.cancel();
    expect(await asked[2]).to.equal('err Cannot send request');
    const failed = await table.request({ agentId: '001', lossy: true, send: () => false });
    expect(failed.toString()).to.equal('err Cannot send request');
  });
});
