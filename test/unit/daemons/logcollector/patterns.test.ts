import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { LineFilter } from '../../../../daemons/logcollector/line-filter.js';
import { compileOutputFormat } from '../../../../daemons/logcollector/output-format.js';
import { rotatedName } from '../../../../daemons/logcollector/passed-over.js';
import { expandPath, pathMatcher } from '../../../../daemons/logcollector/path-pattern.js';
import { strftime } from '../../../../daemons/logcollector/strftime.js';

describe('path patterns', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-glob-'));
    for (const path of ['a/app.log', 'a/app1.log', 'a/.hidden.log', 'b/app.log', 'b/x[1].log', 'c/deep/app.log']) {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), '');
    }
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });
  const expand = (pattern: string, limit = 100) => {
    const { paths, cut } = expandPath(join(root, pattern), limit);
    return { paths: paths.map((path) => path.slice(root.length + 1)), cut };
  };

  it('finds files by names with wildcards, in directories too', () => {
    expect(expand('a/*.log').paths).to.deep.equal(['a/app.log', 'a/app1.log']);
    expect(expand('a/app?.log').paths).to.deep.equal(['a/app1.log']);
    expect(expand('*/app.log').paths).to.deep.equal(['a/app.log', 'b/app.log']);
    expect(expand('?/app[0-9].log').paths).to.deep.equal(['a/app1.log']);
    expect(expand('?/app[!0-9]log').paths).to.deep.equal(['a/app.log', 'b/app.log']);
    expect(expand('a/.*.log').paths).to.deep.equal(['a/.hidden.log']);
    expect(expand('none/*.log').paths).to.deep.equal([]);
    expect(expand('a/app.log').paths).to.deep.equal(['a/app.log']);
    expect(expand('a/missing.log').paths).to.deep.equal(['a/missing.log']);
    expect(expand('b/x[[]1].log').paths).to.deep.equal(['b/x[1].log']);
    expect(expand('a/**').paths).to.deep.equal(['a/app.log', 'a/app1.log']);
  });

  it('stops at the limit and says so', () => {
    expect(expand('*/*.log', 2).cut).to.equal(true);
    expect(expand('*/*.log', 2).paths).to.have.length(2);
    expect(expand('*/*.log', 4).cut).to.equal(false);
  });

  it('names directories in which new files may appear', () => {
    const { directories } = expandPath(join(root, '*/app.log'), 10);
    expect(directories).to.include.members([root, join(root, 'a'), join(root, 'b')]);
  });

  it('compares paths name by name', () => {
    expect(pathMatcher('/a/*.log')('/a/b.log')).to.equal(true);
    expect(pathMatcher('/a/*.log')('/a/b/c.log')).to.equal(false);
    expect(pathMatcher('/a/(b)+.log')('/a/(b)+.log')).to.equal(true);
    expect(pathMatcher('/a/[].log')('/a/[].log')).to.equal(true);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('*', '?', '[', ']', '!', '^', '-', 'a', 'z', '\\', '/', '(') }),
        (pattern) => {
          pathMatcher(pattern)('/a/b-c');
        },
      ),
    );
  });
});

describe('names of rotation', () => {
  it('are those with numbers behind, or before the extension', () => {
    const names = ['1', '10', '20261126', '2026-11-26', '2026-11-26_10:00', '2026-11-26T10:00:00.1'];
    for (const name of names) {
      for (const rotated of [`app.log.${name}`, `app.log-${name}`, `app.log_${name}`, `app-${name}.log`]) {
        expect(rotatedName('app.log').test(rotated), rotated).to.equal(true);
      }
    }
    for (const other of [
      'app.log',
      'app.log.1.gz',
      'app.log.old',
      'app.log.1.bak',
      'apple.log.1',
      'app.log1',
      'xapp.log.1',
    ]) {
      expect(rotatedName('app.log').test(other), other).to.equal(false);
    }
    expect(rotatedName('messages').test('messages-20261126')).to.equal(true);
    expect(rotatedName('a+b(c).log').test('a+b(c).log.1')).to.equal(true);
    expect(rotatedName('.log').test('.log.1')).to.equal(true);
  });

  it('make an expression of any name', () => {
    fc.assert(fc.property(fc.string(), (name) => rotatedName(name).test(`${name}.1`) && !rotatedName(name).test(name)));
  });
});

describe('strftime', () => {
  it('formats as the C library does', () => {
    const date = new Date(2024, 1, 29, 9, 5, 7);
    expect(strftime('%Y-%m-%d %H:%M:%S %y %j %e %b %B %a %A %I %p %u %w %F %T %D %% %Q', date)).to.equal(
      '2024-02-29 09:05:07 24 060 29 Feb February Thu Thursday 09 AM 4 4 2024-02-29 09:05:07 02/29/24 % %Q',
    );
    expect(strftime('%z', date)).to.match(/^[+-]\d{4}$/);
  });
});

describe('out_format', () => {
  const context = {
    location: '/var/log/x.log',
    hostname: 'web',
    hostAddress: () => '192.0.2.1',
    now: () => new Date(2024, 2, 7, 9, 15, 2),
    cut: (bytes: number) => cuts.push(bytes),
  };
  const cuts: number[] = [];
  const format = (template: string, log: string): string =>
    compileOutputFormat(template, context)(Buffer.from(log)).toString('utf8');

  it('puts in what its tokens stand for', () => {
    expect(format('$(timestamp %Y-%m-%d) $(hostname) app: $(log)', 'hello')).to.equal('2024-03-07 web app: hello');
    expect(format('$(timestamp)|$(location)|$(command)|$(host_ip)', '')).to.equal(
      'Mar  7 09:15:02|/var/log/x.log|/var/log/x.log|192.0.2.1',
    );
    expect(format('{"m":"$(json_escaped_log)","b":"$(base64_log)"}', 'a "b"\n')).to.equal(
      '{"m":"a \\"b\\"\\n","b":"YSAiYiIK"}',
    );
    expect(format('$(unknown) $(log', 'x')).to.equal('$(unknown) $(log');
  });

  it('cuts what would be too long, and says so', () => {
    expect(format('$(base64_log)', 'x'.repeat(60_000))).to.have.length(65_279);
    expect(cuts).to.deep.equal([80_000]);
  });
});

describe('ignore and restrict', () => {
  const drop = (ignore: string[], restrict: string[], line: string): string | undefined =>
    new LineFilter(
      ignore.map((pattern) => ({ type: 'pcre2', pattern })),
      restrict.map((pattern) => ({ type: 'osregex', pattern })),
    ).dropReason(Buffer.from(line));

  it('drops what any ignore matches, then what a restrict does not', () => {
    expect(drop([], [], 'x')).to.equal(undefined);
    expect(drop(['^a', '^b'], [], 'bee')).to.equal("(1976): Ignoring the log line 'bee' due to ignore config: '^b'");
    expect(drop(['^a'], ['ee', '\\d'], 'bee1')).to.equal(undefined);
    expect(drop(['^a'], ['ee', '\\d'], 'bee')).to.equal(
      "(1976): Ignoring the log line 'bee' due to restrict config: '\\d'",
    );
  });
});
