import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { readDebugFlags, switchDebug } from '../../../../../bin/control/debug-switch.js';
import { ScriptLockError, withScriptLock } from '../../../../../bin/control/home/script-lock.js';
import { stalePidFiles } from '../../../../../bin/control/supervisor/live-process.js';
import { RestartDelay } from '../../../../../bin/control/supervisor/restart-delay.js';
import {
  selectDaemons,
  startOrder,
  startPhases,
  stopOrder,
  stopPhases,
  UnknownDaemonError,
} from '../../../../../lib/control/daemon-catalogue.js';
import { wantedDaemons } from '../../../../../lib/control/wanted-daemons.js';
import { TemporaryHome } from '../../../../support/temporary-home.js';

describe('RestartDelay', () => {
  it('doubles from 1 s to 60 s and begins anew after a healthy run', () => {
    const delay = new RestartDelay();
    expect([0, 0, 0, 0, 0, 0, 0, 0].map(() => delay.next(0))).to.deep.equal([
      1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000,
    ]);
    expect(delay.next(59_999)).to.equal(60_000);
    expect(delay.next(60_000)).to.equal(1000);
    expect(delay.next(10)).to.equal(2000);
    delay.reset();
    expect(delay.next(0)).to.equal(1000);
  });
});

describe('daemon selection', () => {
  it('has the order of the specification', () => {
    expect(stopOrder('server')).to.have.length(11);
    expect(stopOrder('server').at(0)).to.equal('svc-clusterd');
    expect(startOrder('server').at(0)).to.equal('svc-apid');
    expect(startOrder('agent')).to.include('svc-agentd').and.not.include('svc-apid');
  });

  it('stops senders before those who receive from them', () => {
    expect(stopPhases(['svc-monitord', 'svc-analysisd', 'svc-db', 'svc-apid'])).to.deep.equal([
      ['svc-monitord', 'svc-apid'],
      ['svc-analysisd'],
      ['svc-db'],
    ]);
    expect(stopPhases(['svc-db'])).to.deep.equal([['svc-db']]);
    expect(stopPhases([])).to.deep.equal([]);
  });

  it('starts those who receive together, and then senders', () => {
    expect(startPhases(['svc-apid', 'svc-db', 'svc-analysisd', 'svc-monitord'])).to.deep.equal([
      ['svc-db', 'svc-analysisd'],
      ['svc-apid', 'svc-monitord'],
    ]);
    expect(startPhases(['svc-execd'])).to.deep.equal([['svc-execd']]);
    expect(startPhases([])).to.deep.equal([]);
  });

  it('takes full and short names, each once, in that order', () => {
    expect(selectDaemons(stopOrder('server'), ['apid', 'svc-db', 'svc-apid'])).to.deep.equal(['svc-db', 'svc-apid']);
    for (const name of ['', 'svc-', 'x', '../apid', 'svc-agentd']) {
      expect(() => selectDaemons(stopOrder('server'), [name]), name).to.throw(UnknownDaemonError);
    }
  });
});

describe('state files of svc-control', () => {
  let home: TemporaryHome;

  beforeEach(() => (home = new TemporaryHome()));
  afterEach(() => home.remove());

  it('wants what this version has and the configuration does not switch off', () => {
    const order = startOrder('server');
    const catalogue = {
      program: (name: string) => (name === 'svc-modulesd' ? undefined : { command: 'x', args: [] }),
      control: { command: 'x', args: [] },
    };
    const wanted = (configuration: string) => {
      writeFileSync(home.path('etc', 'manager.conf'), `<manager_config>${configuration}</manager_config>`);
      const names = wantedDaemons(home, catalogue, order);
      expect(names.has('svc-modulesd')).to.equal(false);
      expect(names.has('svc-apid')).to.equal(true);
      return [names.has('svc-authd'), names.has('svc-clusterd')];
    };
    const key = 'a'.repeat(32);
    const cluster = (disabled: string) =>
      `<cluster><disabled>${disabled}</disabled><key>${key}</key><nodes><node>10.0.0.1</node></nodes></cluster>`;
    expect(wanted('')).to.deep.equal([false, false]);
    expect(wanted(`<auth><port>0</port></auth>${cluster('yes')}`)[1]).to.equal(false);
    expect(wanted(`<auth><disabled>no</disabled></auth>${cluster('no')}`)).to.deep.equal([true, true]);
    expect(wanted(`<auth><disabled>yes</disabled></auth><!-- ${cluster('no')} -->`)).to.deep.equal([false, false]);
    expect(wanted('<auth><bogus/></auth>')).to.deep.equal([false, false]);
  });

  it('passes only -d and -dd from the file of the debug switch', () => {
    expect(readDebugFlags(home)).to.deep.equal([]);
    switchDebug(home, true);
    expect(readDebugFlags(home)).to.deep.equal(['-d']);
    switchDebug(home, false);
    expect(readDebugFlags(home)).to.deep.equal([]);
    for (const [text, flags] of [
      ['DEBUG_CLI="-dd"\n', ['-dd']],
      ['DEBUG_CLI="--home /etc"\n', []],
      ['DEBUG_CLI="-d" x\n', []],
    ] as const) {
      writeFileSync(home.path('bin', '.process_list'), text);
      expect(readDebugFlags(home), text).to.deep.equal(flags);
    }
  });

  it('holds the script lock during the action only, also when it fails', async () => {
    const directory = home.path('var', 'start-script-lock');
    await withScriptLock(home, () => {
      expect(existsSync(directory)).to.equal(true);
      return Promise.resolve();
    });
    await withScriptLock(home, () => Promise.reject(new Error('x'))).catch(() => {});
    expect(existsSync(directory)).to.equal(false);
  });

  it('waits 60 times for a living holder and then names the directory', async () => {
    const directory = home.path('var', 'start-script-lock');
    mkdirSync(directory);
    writeFileSync(home.path('var', 'start-script-lock', 'pid'), `${process.pid}\n`);
    let refusal: unknown;
    await withScriptLock(home, () => Promise.resolve(), 0).catch((error: unknown) => (refusal = error));
    expect(refusal).to.be.instanceOf(ScriptLockError);
    expect((refusal as Error).message).to.equal(
      `ERROR: Another instance is locking this process.\nIf you are sure that no other instance is running, please remove ${directory}`,
    );
  });

  it('takes over a lock without a name that nobody is completing', async () => {
    const directory = home.path('var', 'start-script-lock');
    mkdirSync(directory);
    utimesSync(directory, 0, 0);
    expect(await withScriptLock(home, () => Promise.resolve('done'), 0)).to.equal('done');
  });

  it('finds pid files of processes that are gone, and only of that daemon', () => {
    for (const name of ['svc-db-4194999.pid', 'svc-db-x.pid', 'svc-dbx-4194999.pid', 'svc-db.json']) {
      writeFileSync(home.path('var', 'run', name), '');
    }
    expect(stalePidFiles(home, 'svc-db')).to.deep.equal([
      { path: home.path('var', 'run', 'svc-db-4194999.pid'), pid: 4_194_999 },
    ]);
  });
});
