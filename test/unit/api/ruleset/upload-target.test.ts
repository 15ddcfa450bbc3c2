import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ApiError } from '../../../../api/http/api-error.js';
import { ProblemError } from '../../../../api/http/problem-error.js';
import {
  checkDirectory,
  checkFileName,
  checkListsDirectory,
  type DirectoryRules,
  fileExists,
  plainDirectory,
} from '../../../../api/ruleset/upload-target.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const LONG = `etc/${'x'.repeat(300)}`;
const RULES: DirectoryRules = {
  configured: [
    'etc/rules',
    'ruleset/rules',
    'ruleset/rules/more',
    'etc/none',
    'etc/none/below',
    LONG,
    'etc/rules-link',
    'etc/out',
    'etc/beside',
  ],
  shipped: 'ruleset/rules',
  errors: { notConfigured: 1209, shipped: 1210, missing: 1006 },
};

describe('where a file of the ruleset may be stored', () => {
  let home: TemporaryHome;
  let outside: string;

  beforeEach(() => {
    outside = mkdtempSync(join(tmpdir(), 'svc-outside-'));
    home = new TemporaryHome();
    for (const directory of ['etc/rules', 'etc/lists', 'ruleset/rules/more']) {
      mkdirSync(home.path(directory), { recursive: true });
    }
  });
  afterEach(() => {
    home.remove();
    rmSync(outside, { recursive: true });
  });

  /** @returns the code of the refusal and its text, undefined where there is none */
  function refusal(check: () => void): readonly [number, string] | undefined {
    try {
      check();
      return undefined;
    } catch (error) {
      if (error instanceof ApiError) return [error.code, error.message];
      throw error;
    }
  }
  const codeOf = (directory: string) => refusal(() => checkDirectory(home, directory, RULES))?.[0];

  it('is a configured directory that is there', () => {
    expect(codeOf('etc/rules')).to.equal(undefined);
    expect(codeOf('etc')).to.equal(1209);
    expect(codeOf('etc/rules/below')).to.equal(1209);
    expect(codeOf('etc/none')).to.equal(1006);
    writeFileSync(home.path('etc/none'), 'a file');
    expect(codeOf('etc/none')).to.equal(1006);
    expect(codeOf('etc/none/below')).to.equal(1006);
    // What the file system says otherwise is no refusal of the rules.
    expect(() => codeOf(LONG)).to.throw(/ENAMETOOLONG/);
  });

  it('is not the shipped one, directly, below, or by a link', () => {
    expect(codeOf('ruleset/rules')).to.equal(1210);
    expect(codeOf('ruleset/rules/more')).to.equal(1210);
    symlinkSync('../ruleset/rules', home.path('etc/rules-link'));
    expect(codeOf('etc/rules-link')).to.equal(1210);
    // The whole of what is shipped, not only rules.
    symlinkSync('../ruleset', home.path('etc/beside'));
    expect(codeOf('etc/beside')).to.equal(1210);
    rmSync(home.path('ruleset'), { recursive: true });
    expect(codeOf('ruleset/rules'), 'it is what it is where it is missing, too').to.equal(1210);
  });

  it('is below the home, wherever links lead', () => {
    const text = (directory: string) => refusal(() => checkDirectory(home, directory, RULES))?.[1];
    symlinkSync(outside, home.path('etc/out'));
    expect(codeOf('etc/out')).to.equal(1006);
    expect(text('etc/out')).to.match(/: etc\/out leads out of the installation$/);
    symlinkSync(join(home.root, '..'), home.path('etc/beside'));
    expect(text('etc/beside')).to.match(/: etc\/beside leads out of the installation$/);
    // One that leads round in a circle is not there.
    symlinkSync('none', home.path('etc/none'));
    expect(codeOf('etc/none')).to.equal(1006);
    // A name that begins with two dots leads nowhere else.
    mkdirSync(home.path('..rules'));
    symlinkSync('../..rules', home.path('etc/rules-link'));
    expect(codeOf('etc/rules-link')).to.equal(undefined);
  });

  it('of lists is etc/lists below the home', () => {
    const check = () => refusal(() => checkListsDirectory(home, 'etc/lists'))?.[1];
    expect(check()).to.equal(undefined);
    rmSync(home.path('etc/lists'), { recursive: true });
    expect(check()).to.match(/: etc\/lists$/);
    symlinkSync(outside, home.path('etc/lists'));
    expect(check()).to.match(/: etc\/lists leads out of the installation$/);
  });

  it('is no link and nothing but a file, where there is something', () => {
    expect(fileExists(home, 'etc/rules/a.xml')).to.equal(false);
    writeFileSync(home.path('etc/rules/a.xml'), '');
    expect(fileExists(home, 'etc/rules/a.xml')).to.equal(true);
    symlinkSync('a.xml', home.path('etc/rules/link.xml'));
    mkdirSync(home.path('etc/rules/directory.xml'));
    for (const name of ['link.xml', 'directory.xml']) {
      const [code, text] = refusal(() => fileExists(home, `etc/rules/${name}`)) ?? [];
      expect(code).to.equal(1006);
      expect(text).to.contain(`etc/rules/${name} is not a regular file`);
    }
  });

  it('has a name that file systems take', () => {
    checkFileName('x'.repeat(200));
    expect(() => checkFileName('x'.repeat(201))).to.throw(ProblemError);
    checkFileName('é'.repeat(100));
    expect(() => checkFileName(`${'é'.repeat(100)}x`), 'in bytes').to.throw(ProblemError);
  });

  it('is written with or without slashes', () => {
    for (const path of ['etc/rules', 'etc/rules/', 'etc//rules///', './etc/rules', 'etc/x/../rules']) {
      expect(plainDirectory(path)).to.equal('etc/rules');
    }
  });
});
