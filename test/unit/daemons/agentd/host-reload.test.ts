import { expect } from 'chai';
import { HostReload, type Supervisor } from '../../../../daemons/agentd/shared/host-reload.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

const STATE = { wanted: true, restarts: 0 };

describe('the reload of the other daemons of an agent', () => {
  let logger: RecordingLogger;
  let calls: string[];

  beforeEach(() => {
    logger = new RecordingLogger();
    calls = [];
  });

  const supervisor: Supervisor = (request, progress) => {
    calls.push([request.command, ...(('daemons' in request && request.daemons) || [])].join(' '));
    if (request.command === 'reload') {
      progress?.({ daemon: 'svc-logcollector', event: 'reloaded', restartNeeded: [] });
      progress?.({ daemon: 'svc-modulesd', event: 'reloaded', restartNeeded: ['wodle'] });
      progress?.({ daemon: 'svc-syscheckd', event: 'reload-refused', reason: 'line 3' });
    }
    if (request.command === 'restart') {
      progress?.({ daemon: 'svc-modulesd', event: 'start-failed', reason: 'it ended' });
    }
    const daemons = Object.fromEntries(
      ['svc-agentd', 'svc-logcollector', 'svc-modulesd', 'svc-syscheckd'].map((name) => [name, STATE]),
    );
    return Promise.resolve({ pid: 1, startedAt: 0, version: '1', daemons });
  };

  it('never asks svc-agentd, restarts who needs it, and says what failed', async () => {
    await new HostReload(supervisor, logger).request();
    expect(calls).to.deep.equal(['ping', 'reload svc-logcollector svc-modulesd svc-syscheckd', 'restart svc-modulesd']);
    expect(logger.lines.filter((line) => line.startsWith('error'))).to.deep.equal([
      'error: svc-syscheckd refused to reload: line 3',
      'error: svc-modulesd does not start again: it ended',
    ]);
  });

  it('makes one of requests that come during another', async () => {
    const reload = new HostReload(supervisor, logger);
    await Promise.all([reload.request(), reload.request(), reload.request()]);
    expect(calls.filter((call) => call === 'ping').length).to.equal(2);
    await reload.request();
    expect(calls.filter((call) => call === 'ping').length).to.equal(3);
  });

  it('says that the others were not asked where nobody can', async () => {
    await new HostReload(() => Promise.reject(new Error('the supervisor does not run')), logger).request();
    expect(logger.lines).to.deep.equal([
      'error: Could not auto-reload agent. Is Active Response enabled? Other daemons were not asked: the supervisor does not run.',
    ]);
  });
});
