import { expect } from 'chai';
import { ControlOutput } from '../../../../bin/control/control-output.js';
import { statusTable } from '../../../../bin/control/status-report.js';

describe('what svc-control says', () => {
  const daemonWords = 'first\nsecond \u001b]0;title\u0007\u009b31m';
  const shown = 'first\nsecond ?]0;title??31m';

  it('has no control characters of a daemon in it', () => {
    let text = '';
    const output = new ControlOutput(
      false,
      () => undefined,
      (more) => (text += more),
    );
    output.problem(daemonWords);
    expect(text).to.equal(`${shown}\n`);
  });

  it('has none in the table of daemons', () => {
    const line = {
      daemon: 'svc-db',
      running: false,
      status: { state: 'stopped' },
      available: true,
      wanted: true,
    } as const;
    const lines = statusTable({ daemons: [{ ...line, problem: daemonWords }] });
    expect(lines).to.include(`svc-db: ${shown}`);
  });
});
