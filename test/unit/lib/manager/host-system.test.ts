import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { hostSystem } from '../../../../lib/manager/host-system.js';

describe('system of this host', () => {
  let directory: string;
  before(() => (directory = mkdtempSync(join(tmpdir(), 'svc-host-'))));
  after(() => rmSync(directory, { recursive: true, force: true }));

  function read(text: string): ReturnType<typeof hostSystem> {
    const file = join(directory, 'os-release');
    writeFileSync(file, text);
    return hostSystem(file);
  }

  it('is told in the fields that agents report', () => {
    const ubuntu =
      'NAME="Ubuntu"\nVERSION_ID="24.04"\nVERSION="24.04.1 LTS (Noble Numbat)"\nVERSION_CODENAME=noble\nID=ubuntu\n';
    expect(read(ubuntu)).to.include({
      name: 'Ubuntu',
      platform: 'ubuntu',
      version: '24.04.1 LTS',
      major: '24',
      minor: '04',
      codename: 'Noble Numbat',
    });
    expect(read(ubuntu).uname).to.include(`|${hostname()} |`);
    expect(read("# nothing\nNAME='Alpine Linux'\nID=alpine\nVERSION_ID=3.20.3\n")).to.include({
      name: 'Alpine Linux',
      version: '3.20.3',
      major: '3',
      minor: '20',
    });
    expect(read('NAME=Arch\nID=arch\nBUILD_ID=rolling\n')).to.not.have.any.keys(
      'version',
      'major',
      'minor',
      'codename',
    );
  });

  it('is the kernel alone where the file is missing', () => {
    expect(hostSystem(join(directory, 'absent'))).to.include({ platform: process.platform, name: 'Linux' });
  });
});
