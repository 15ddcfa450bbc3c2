import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { ResponseError } from '../../../../daemons/execd/response-error.js';
import { eventually } from '../../../support/eventually.js';
import { ResponseKit, STATEFUL, STATELESS } from '../../../support/execd/response-kit.js';

const IP = '203.0.113.9';

/** As Linux tells it; empty for a process that is gone. */
function statusOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}

describe('the runner of active responses', () => {
  let kit: ResponseKit;

  beforeEach(() => (kit = new ResponseKit()));
  afterEach(async () => {
    await kit.close();
    kit.home.remove();
  });

  async function refusal(text: string): Promise<string> {
    try {
      await kit.runner.accept(text);
    } catch (error) {
      if (error instanceof ResponseError) return `${error.code} ${error.message}`;
      throw error;
    }
    return 'accepted';
  }

  async function open(sections: string): Promise<void> {
    kit.configure(sections);
    await kit.open();
  }

  /** What is left when the process is killed: nobody says goodbye to the store's content. */
  async function again(): Promise<void> {
    await kit.close();
    await kit.open();
  }

  it('holds the dialogue, and undoes it once when its time is over', async () => {
    await open(kit.response('deny', STATEFUL, 600, '<extra_args>-a  b</extra_args>'));
    await kit.run('deny600');
    const [add, go] = kit.lines('deny').map((line) => JSON.parse(line) as Record<string, unknown>);
    const parameters = { extra_args: ['-a', 'b'], alert: { rule: { id: '5712' }, data: { srcip: IP } } };
    expect(add).to.deep.equal({
      version: 1,
      origin: { name: 'node01', module: 'wazuh-execd' },
      command: 'add',
      parameters: { ...parameters, program: 'active-response/bin/deny' },
    });
    expect(go).to.deep.equal({ ...add, command: 'continue' });
    await kit.pass(599);
    expect(kit.told('deny')).to.have.length(2);
    await kit.pass(1);
    await kit.pass(600);
    expect(kit.told('deny')).to.deep.equal([`add ${IP}`, `continue ${IP}`, `delete ${IP}`]);
    expect(kit.runner.counts).to.deep.equal({ accepted: 1, refused: 0, started: 2, failed: 0 });
    expect(kit.runner.pending).to.deep.equal({ runs: 0, scripts: 0, in_force: 0, undone: 1 });
    expect(kit.logger.lines.filter((line) => !line.startsWith('debug'))).to.deep.equal([]);
  });

  it('answers abort for a key in force, whose time begins again', async () => {
    await open(kit.response('deny', STATEFUL, 60));
    await kit.run('deny60');
    await kit.pass(40);
    await kit.run('deny60');
    await kit.run('deny60', '203.0.113.10');
    await kit.pass(40);
    expect(kit.told('deny')).to.deep.equal([
      ...[`add ${IP}`, `continue ${IP}`, `add ${IP}`, `abort ${IP}`],
      ...['add 203.0.113.10', 'continue 203.0.113.10'],
    ]);
    await kit.pass(20);
    expect(kit.told('deny').slice(6).sort()).to.deep.equal(['delete 203.0.113.10', `delete ${IP}`]);
  });

  it('runs many at once, one of two with the same key', async () => {
    await open(kit.response('deny', STATEFUL, 60));
    const sources = ['1', '1', '2', '3', '3', '3'].map((last) => `203.0.113.${last}`);
    await Promise.all(sources.map((source) => kit.runner.accept(kit.message('deny60', source))));
    await kit.runner.idle();
    const answers = (order: string) => kit.told('deny').filter((line) => line.startsWith(order));
    expect(answers('continue').sort()).to.deep.equal([1, 2, 3].map((last) => `continue 203.0.113.${String(last)}`));
    expect(answers('abort')).to.have.length(3);
  });

  it('lets scripts go on whose response is not undone, and leaves those alone that ask nothing', async () => {
    await open(`${kit.response('once', STATEFUL)}\n${kit.response('tell', STATELESS, 60)}`);
    await kit.run('once0');
    await kit.run('once0');
    await kit.run('tell60');
    await kit.pass(100);
    expect(kit.told('once')).to.deep.equal([`add ${IP}`, `continue ${IP}`, `add ${IP}`, `continue ${IP}`]);
    expect(kit.told('tell')).to.deep.equal([`add ${IP}`]);
  });

  it('locks offenders out for longer each time they come back', async () => {
    const offenders = '<active-response><repeated_offenders>1,2</repeated_offenders></active-response>';
    await open(`${kit.response('deny', STATEFUL, 10)}\n${offenders}`);
    const lasting: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      await kit.run('deny10');
      if (turn === 2) await again();
      let seconds = 0;
      while (kit.runner.pending.in_force > 0 && seconds < 500) {
        seconds += 10;
        await kit.pass(10);
      }
      lasting.push(seconds);
    }
    expect(lasting).to.deep.equal([10, 60, 120, 120]);
    // While it is in force, too: the second one is answered abort.
    await kit.run('deny10');
    expect(kit.logger.lines).to.include("debug: Repeated offender. Setting timeout to '120s'");
  });

  it('undoes after a restart what was due meanwhile, and the rest in its time', async () => {
    await open(kit.response('deny', STATEFUL, 60));
    await kit.run('deny60');
    await kit.close();
    kit.passed += 30_000;
    await kit.open();
    await kit.runner.idle();
    expect(kit.told('deny')).to.have.length(2);
    await kit.close();
    kit.passed += 40_000;
    await kit.open();
    await kit.runner.idle();
    await again();
    await kit.pass(100);
    expect(kit.told('deny')).to.deep.equal([`add ${IP}`, `continue ${IP}`, `delete ${IP}`]);
  });

  it('does not hold anything longer because the clock was set back', async () => {
    await open(kit.response('deny', STATEFUL, 60));
    await kit.run('deny60');
    await kit.close();
    kit.passed -= 100_000;
    await kit.open();
    await kit.pass(60);
    expect(kit.told('deny').at(-1)).to.equal(`delete ${IP}`);
  });

  it('begins once more what was interrupted, and then gives it up', async () => {
    await open(kit.response('tell', STATELESS));
    const { changes } = kit.store.newRun(kit.message('tell0', '192.0.2.1'));
    const interrupted = kit.store.runs.put(98, { message: kit.message('tell0', '192.0.2.2'), starts: 1 });
    const hopeless = kit.store.runs.put(99, { message: kit.message('tell0', '192.0.2.3'), starts: 2 });
    await kit.store.commit([...changes, interrupted, hopeless]);
    await again();
    await kit.runner.idle();
    await again();
    await kit.runner.idle();
    expect(kit.told('tell').sort()).to.deep.equal(['add 192.0.2.1', 'add 192.0.2.2']);
    expect(kit.logger.lines.filter((line) => /interrupted/.test(line))).to.deep.equal([
      "info: Active response 'tell0' was interrupted: it is started again.",
      "error: Active response 'tell0' is given up: its script was interrupted 2 times.",
    ]);
  });

  it('tells a script to go on once more when it is not known whether it was told', async () => {
    await open(kit.response('deny', STATEFUL, 60));
    await kit.run('deny60');
    expect([...kit.store.runs.entries()]).to.deep.equal([]);
    const [[, { key }] = ['', { key: '' }]] = [...kit.store.active.entries()];
    const unknown = { message: kit.message('deny60', IP), starts: 1, answered: key };
    await kit.store.commit([kit.store.runs.put(98, unknown)]);
    await again();
    await kit.runner.idle();
    expect(kit.told('deny').slice(2)).to.deep.equal([`add ${IP}`, `continue ${IP}`]);
    expect([...kit.store.runs.entries()]).to.deep.equal([]);
    // From then on it is in force as before, and undone once.
    await kit.run('deny60');
    await kit.pass(60);
    expect(kit.told('deny').slice(4)).to.deep.equal([`add ${IP}`, `abort ${IP}`, `delete ${IP}`]);
    await kit.store.commit([kit.store.runs.put(99, unknown)]);
    await again();
    await kit.runner.idle();
    expect(kit.told('deny').slice(7), 'its time is over').to.deep.equal([`add ${IP}`, `abort ${IP}`]);
  });

  it('has noted that a script was told to go on while it works on', async () => {
    const slow = STATEFUL.replace('&& note "$line"', '&& note "$line" && while [ ! -e logs/go ]; do sleep 0.02; done');
    await open(kit.response('deny', slow, 60));
    await kit.runner.accept(kit.message('deny60', IP));
    await eventually('it acts', () => kit.told('deny').length === 2);
    await eventually('that is noted', () => [...kit.store.runs.entries()].length === 0);
    writeFileSync(kit.home.path('logs', 'go'), '');
    await kit.runner.idle();
  });

  it('never locks out who is on the white list, whoever asks and whatever the script asks for', async () => {
    const list = '<global><white_list>10.0.0.0/8</white_list><white_list>203.0.113.7</white_list></global>';
    const other = STATEFUL.replace('"$ip"', '203.0.113.7');
    await open(`${list}${kit.response('deny', STATEFUL, 60)}${kit.response('other', other, 60)}`);
    expect(await refusal(kit.message('deny60', '10.1.2.3'))).to.match(
      /^white_listed .*'10\.1\.2\.3' is on the white list/,
    );
    const windows = { alert: { data: { win: { eventdata: { ipAddress: '10.1.2.3' } } } } };
    expect(await refusal(kit.message('deny60', IP, windows))).to.match(/^white_listed/);
    await kit.run('other60');
    expect(kit.told('deny')).to.deep.equal([]);
    expect(kit.told('other')).to.deep.equal([`add ${IP}`, `abort ${IP}`]);
    expect(kit.runner.pending.in_force).to.equal(0);
  });

  it('says what it does not run', async () => {
    await open(kit.response('deny', STATEFUL, 60));
    expect(await refusal('{')).to.equal("bad_message (1315): Invalid JSON message: '{'");
    expect(await refusal('[]')).to.equal("bad_message (1315): Invalid JSON message: '[]'");
    expect(await refusal('{"version":1}')).to.equal(`bad_message (1316): Invalid AR command: '{"version":1}'`);
    expect(await refusal('{"command":"a","parameters":[]}')).to.match(/^bad_message \(1316\)/);
    expect(await refusal(kit.message('deny', IP))).to.equal(
      "unknown_command (1311): Invalid command name 'deny' provided.",
    );
    expect(await refusal(kit.message('!../deny', IP))).to.match(/^unknown_command \(1318\)/);
    expect(await refusal(kit.message('!deny', IP))).to.match(/^unknown_command \(1311\).*its own configuration/);
    expect(await refusal('x'.repeat(65_537))).to.match(/^bad_message \(1315\)/);
    expect(kit.runner.counts).to.deep.include({ accepted: 0, refused: 8 });
    expect(kit.logger.lines.filter((line) => line.startsWith('error: (13')).length).to.equal(2);
  });

  it('refuses everything when it is switched off, and still undoes', async () => {
    const response = kit.response('deny', STATEFUL, 60);
    await open(response);
    await kit.run('deny60');
    await kit.close();
    await open(`<active-response><disabled>yes</disabled></active-response>${response}`);
    expect(await refusal(kit.message('deny60', IP))).to.equal('disabled (1350): Active response disabled.');
    await kit.pass(60);
    expect(kit.told('deny').at(-1)).to.equal(`delete ${IP}`);
  });

  it('runs no program that somebody else could have written', async () => {
    await open(kit.response('deny', STATEFUL, 60));
    kit.script('deny', STATEFUL, 0o770);
    expect(await refusal(kit.message('deny60', IP))).to.match(/^not_found \(1311\).*can be written by others/);
    kit.script('deny', STATEFUL, 0o640);
    expect(await refusal(kit.message('deny60', IP))).to.match(/^not_found \(1311\)/);
    kit.script('real', STATEFUL);
    await kit.close();
    await open(kit.response('deny', STATEFUL, 60).replace('<executable>deny', '<executable>linked'));
    symlinkSync('real', kit.home.path('active-response', 'bin', 'linked'));
    expect(await refusal(kit.message('deny60', IP))).to.match(/^not_found \(1311\).*is a link/);
  });

  it('ends a script that hangs, with what it has started', async () => {
    kit.maxRunMs = 500;
    const script = '#!/bin/sh\nread -r line\nsleep 100 &\nprintf "%s\\n%s\\n" $$ $! > logs/hang.log\nsleep 100\n';
    await open(kit.response('hang', script));
    await kit.run('hang0');
    const processes = kit.lines('hang');
    expect(processes).to.have.length(2);
    // One that nobody has asked after yet is a zombie.
    const alive = processes.filter((pid) => /\) [^Z]/.test(statusOf(pid)));
    expect(alive).to.deep.equal([]);
    expect(kit.logger.lines).to.include("warn: Active response 'active-response/bin/hang' took too long and was ended");
    expect(kit.runner.pending.runs).to.equal(0);
  });

  it('tells of scripts that fail, and tries again to undo', async () => {
    const failing = STATEFUL.replace('exit 0;;', 'echo "no room" >&2; exit 3;;');
    await open(kit.response('deny', failing, 60));
    await kit.run('deny60');
    await kit.pass(60);
    expect(kit.logger.lines.filter((line) => !line.startsWith('debug'))).to.deep.equal([
      "warn: Active response 'active-response/bin/deny' failed with code 3: no room",
      `error: Active response 'deny-${IP}' could not be undone: its script failed; it is tried again in 5 s.`,
    ]);
    kit.script('deny', STATEFUL);
    await kit.pass(5);
    expect(kit.runner.pending).to.deep.include({ in_force: 0, undone: 1 });
    kit.script('deny', '#!/nonsense/interpreter\n');
    await kit.run('deny60');
    expect(kit.logger.lines.at(-1)).to.match(/^warn: \(1317\): Could not launch command .*ENOENT.* \(2\)$/);
  });

  it('gives up what cannot be undone, and says so', async () => {
    await open(kit.response('deny', STATEFUL.replace('exit 0;;', 'exit 1;;'), 60));
    await kit.run('deny60');
    for (const seconds of [60, 5, 30, 120, 500]) await kit.pass(seconds);
    expect(kit.told('deny').filter((line) => line.startsWith('delete'))).to.have.length(4);
    expect(kit.logger.lines.at(-1)).to.match(
      /could not be undone: its script failed; it is given up and stays in force/,
    );
    expect(kit.runner.pending.in_force).to.equal(0);
  });

  it('answers nothing to a script that asks for something else', async () => {
    await open(kit.response('odd', STATEFUL.replace('check_keys', 'check_me'), 60));
    await kit.run('odd60');
    expect(kit.told('odd')).to.deep.equal([`add ${IP}`]);
    expect(kit.logger.lines.at(-1)).to.match(/^warn: \(1315\): Invalid JSON message: .*check_me.*gets no answer/);
    expect(kit.runner.pending).to.deep.include({ runs: 0, in_force: 0 });
  });

  it('has the supervisor restart, once', async () => {
    await open('');
    await kit.run('restart-wazuh');
    await again();
    await kit.runner.idle();
    expect(kit.restarts).to.equal(1);
  });
});
