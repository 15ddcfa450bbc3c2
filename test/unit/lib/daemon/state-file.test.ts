import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { expect } from 'chai';
import { StateFile } from '../../../../lib/daemon/state-file.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

describe('StateFile', () => {
  let home: TemporaryHome;

  beforeEach(() => {
    home = new TemporaryHome();
  });

  afterEach(() => {
    home.remove();
  });

  it('holds the last text, is read by its group, and is gone after the stop', () => {
    const path = home.path('var', 'run', 'x.state');
    const file = new StateFile(path, (problem) => expect.fail(problem));
    file.write('first');
    file.write('second');
    expect(readFileSync(path, 'utf8')).to.equal('second');
    expect(statSync(path).mode & 0o777).to.equal(0o640);
    file.remove();
    file.remove();
    expect(existsSync(path)).to.equal(false);
  });

  it('tells what it could not write, and goes on', () => {
    const path = home.path('var', 'run', 'x.state');
    mkdirSync(path);
    const problems: string[] = [];
    new StateFile(path, (problem) => problems.push(problem)).write('text');
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(/^The state file '.*\/x\.state' was not written: /);
  });
});
