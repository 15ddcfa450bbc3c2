import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { PatternCompiler } from '../../../../../lib/engine/load/pattern-compiler.js';
import { RulesetError } from '../../../../../lib/engine/load/ruleset-error.js';
import { DiskRulesetFileSystem, type RulesetFileSystem } from '../../../../../lib/engine/load/ruleset-file-system.js';
import {
  type FileSelection,
  offlineSelection,
  readRulesetFiles,
  selectRulesetFiles,
} from '../../../../../lib/engine/load/ruleset-files.js';
import { MatchContext } from '../../../../../lib/patterns/matcher.js';
import { RecordingDiagnostics } from '../../../../support/recording-diagnostics.js';

/** Enough of OS_Regex for names: a text, `$` at its end. */
const compilePattern: PatternCompiler = (language, source) => {
  if (source.includes('\\')) {
    throw new Error('bad escape');
  }
  const test = (subject: string): boolean =>
    source.endsWith('$') ? subject.endsWith(source.slice(0, -1)) : subject.includes(source);
  return { language, source, requirements: undefined, cost: 'linear', test, exec: test };
};

function filesIn(directories: Record<string, string[]>): RulesetFileSystem {
  return { list: (directory) => directories[directory], read: () => '' };
}

function select(
  selection: Partial<FileSelection>,
  directories: Record<string, string[]>,
  kind: 'rules' | 'decoders' = 'decoders',
): string[] {
  return selectRulesetFiles(
    kind,
    { includes: [], directories: [], excludes: [], ...selection },
    {
      fileSystem: filesIn(directories),
      compilePattern,
      context: new MatchContext(),
      diagnostics: new RecordingDiagnostics(),
    },
  );
}

const BOTH = ['ruleset/decoders', 'etc/decoders'].map((path) => ({ path, pattern: '.xml$' }));

describe('selectRulesetFiles', () => {
  const dirs = {
    'ruleset/decoders': ['0310-b.xml', '0005-a.xml', 'readme.txt'],
    'etc/decoders': ['local_decoder.xml', '0001-x.xml', '0310-b.xml'],
  };

  it('sorts the files of all directories by base name', () => {
    expect(select({ directories: BOTH }, dirs)).to.deep.equal([
      'etc/decoders/0001-x.xml',
      'ruleset/decoders/0005-a.xml',
      'ruleset/decoders/0310-b.xml',
      'etc/decoders/0310-b.xml',
      'etc/decoders/local_decoder.xml',
    ]);
  });

  it('takes the shipped directory when none is named, and skips missing ones', () => {
    expect(select({}, dirs)).to.deep.equal(['ruleset/decoders/0005-a.xml', 'ruleset/decoders/0310-b.xml']);
    expect(select({}, dirs, 'rules')).to.deep.equal([]);
  });

  it('includes files by name or path', () => {
    const includes = ['0005-a.xml', 'my/own.xml'];
    const directories = [{ path: 'etc/decoders', pattern: '.xml$' }];
    expect(select({ includes, directories }, dirs)).to.deep.equal([
      'etc/decoders/0001-x.xml',
      'ruleset/decoders/0005-a.xml',
      'etc/decoders/0310-b.xml',
      'etc/decoders/local_decoder.xml',
      'my/own.xml',
    ]);
  });

  it('excludes by path or by bare name', () => {
    const directories = BOTH;
    expect(
      select({ directories, excludes: ['0310-b.xml', 'etc/decoders/0001-x.xml', 'decoders/0005-a.xml'] }, dirs),
    ).to.deep.equal(['ruleset/decoders/0005-a.xml', 'etc/decoders/local_decoder.xml']);
  });

  it('takes the pattern of a directory', () => {
    expect(select({ directories: [{ path: 'ruleset/decoders', pattern: 'decoders/0' }] }, dirs)).to.have.length(2);
    expect(() => select({ directories: [{ path: 'x', pattern: '\\x' }] }, dirs)).to.throw(
      RulesetError,
      "(1202): Configuration error at 'pattern in decoder_dir does not compile'.",
    );
  });

  it('finds the parts of directories without a home', () => {
    expect(offlineSelection(['/a/', 'b']).rules.directories.map((d) => d.path)).to.deep.equal(['/a/rules', 'b/rules']);
  });
});

describe('ruleset files on disk', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'svc-ruleset-'));
    mkdirSync(join(home, 'etc/decoders'), { recursive: true });
    writeFileSync(join(home, 'etc/decoders/b.xml'), 'é');
  });
  afterEach(() => {
    rmSync(home, { recursive: true });
  });

  it('are read as byte strings, and a missing one is reported', () => {
    const fileSystem = new DiskRulesetFileSystem(home);
    expect(fileSystem.list('etc/decoders')).to.deep.equal(['b.xml']);
    expect(fileSystem.list('etc/none')).to.equal(undefined);
    const diagnostics = new RecordingDiagnostics();
    expect(readRulesetFiles(['etc/decoders/b.xml', 'etc/none.xml'], fileSystem, diagnostics)).to.deep.equal([
      { path: 'etc/decoders/b.xml', content: '\xc3\xa9' },
    ]);
    expect(diagnostics.lines).to.deep.equal([
      "warn (1103): Could not open file 'etc/none.xml' due to [(2)-(No such file or directory)]. @etc/none.xml:0",
    ]);
  });
});
