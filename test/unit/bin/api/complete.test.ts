import { spawnSync } from 'node:child_process';
import { mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Command } from 'commander';
import { complete } from '../../../../bin/api/complete.js';
import { COMPLETION_SCRIPTS } from '../../../../bin/api/completion-scripts.js';
import { loadOperations } from '../../../../bin/api/operations.js';
import { productProgram } from '../../../support/daemon/product-program.js';
import { removeTree } from '../../../support/remove-tree.js';

describe('completion of svc-api', function () {
  this.timeout(30_000);
  const program = new Command('svc-api');
  program.command('GET').option('--select <fields>', 'fields').option('--all', 'all pages');
  program.command('agents').command('list').option('--status <status>', 'status');
  const operations = loadOperations();
  const words = (line: string) => complete(line, operations, program.commands).map(({ word }) => word);

  it('knows commands and options', () => {
    expect(words('svc-api ')).to.deep.equal(['GET ', 'agents ']);
    expect(words('svc-api agents l')).to.deep.equal(['list ']);
    expect(words('svc-api agents list --s')).to.deep.equal(['--status ']);
    expect(words('svc-api get /agents --')).to.deep.equal(['--all ', '--select ']);
  });

  it('knows paths, and keeps what stands for a place', () => {
    expect(words('svc-api GET /agents/sum')).to.deep.equal([
      '/agents/summary ',
      '/agents/summary/os ',
      '/agents/summary/status ',
    ]);
    expect(words('svc-api GET /agents/001/k')).to.deep.equal(['/agents/001/key ']);
    expect(words('svc-api GET /groups/web/files/')).to.deep.equal(['/groups/web/files/{file_name}']);
    expect(words('svc-api GET /no')).to.deep.equal([]);
  });

  it('knows parameters and their values, as words and behind the path', () => {
    expect(words('svc-api GET /agents lim')).to.deep.equal(['limit=']);
    expect(words('svc-api GET /agents status=a')).to.deep.equal(['status=active ']);
    expect(words('svc-api GET /agents?lim')).to.deep.equal(['/agents?limit=']);
    expect(words("svc-api GET '/agents?limit=1&status=ne")).to.deep.equal(['/agents?limit=1&status=never_connected']);
    expect(words('svc-api GET /nothing lim')).to.deep.equal([]);
  });

  it('answers a shell', () => {
    const bin = mkdtempSync(join(tmpdir(), 'svc-api-'));
    symlinkSync(productProgram('svc-api'), join(bin, 'svc-api'));
    const script =
      `${COMPLETION_SCRIPTS.bash}\nCOMP_LINE='svc-api GET /agents status=a'; COMP_POINT=\${#COMP_LINE}\n` +
      'COMP_WORDS=(svc-api GET /agents status = a); COMP_CWORD=5; _svc_api; printf "<%s>" "${COMPREPLY[@]}"';
    const { stdout, stderr } = spawnSync('bash', ['-c', script], {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    });
    removeTree(bin);
    expect([stdout, stderr]).to.deep.equal(['<active >', '']);
  });
});
