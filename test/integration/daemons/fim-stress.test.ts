import { expect } from 'chai';
import { runFimStress } from '../../fim-stress/run-fim-stress.js';

describe('files that change under svc-syscheckd', () => {
  it('are told completely and once each, while scans run and it is killed', async function () {
    this.timeout(300_000);
    // Always the same operations, though never at the same moments. `npm run bench -- fim-stress` does more.
    const report = await runFimStress({
      seed: 7,
      files: 400,
      operations: 3000,
      rounds: 4,
      kills: ['svc-syscheckd', 'svc-analysisd', 'svc-syscheckd'],
      pauseMs: 20,
      frequency: 1,
      synchronization: false,
      patienceMs: 60_000,
    });
    expect(report.problems, `kept in ${String(report.kept)}`).to.deep.equal([]);
    expect(report).to.deep.include({ kills: 3 });
    expect(report.operations).to.be.at.least(3000);
    expect([...report.modes.keys()]).to.have.members(['realtime', 'scheduled']);
  });
});
