/**
 * Prints what a match costs, in nanoseconds of CPU time: single patterns on one line, and all patterns of a ruleset on
 * lines of a corpus. Run it after a build: `node dist/test/bench/patterns.js [ruleset directory] [corpus.log.gz]`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { compilePattern } from '../../lib/patterns/compile-pattern.js';
import { MatchContext, type Matcher, type PatternLanguage } from '../../lib/patterns/matcher.js';
import { PatternError } from '../../lib/patterns/pattern-error.js';
import { patternGrowth } from '../../lib/patterns/pattern-growth.js';
import { sharedData } from '../support/shared-data.js';

const LINE = 'Mar 20  9:46:40 web02 sshd[10339]: Disconnected from user ubuntu 10.3.11.191 port 29678 ';
const context = new MatchContext();

const SINGLE: readonly [PatternLanguage, string][] = [
  ['osmatch', 'authentication failure'],
  ['osmatch', 'disconnected from'],
  ['osmatch', '^sshd'],
  ['osmatch', 'error|fail|denied|refused|invalid|illegal|bad|wrong|attack|timeout'],
  ['osregex', '^Failed \\S+ for (\\S+) from (\\S+) port (\\d+)'],
  ['osregex', 'from user (\\S+) (\\d+.\\d+.\\d+.\\d+) port (\\d+)'],
  ['osregex', '^\\w+ \\d+ \\S+ (\\S+) sshd'],
  ['osregex', '\\d+.\\d+.\\d+.\\d+'],
  ['pcre2', '(?i)powershell\\.exe'],
  ['pcre2', '(?i)(cmd|powershell|rundll32)\\.exe'],
  ['pcre2', 'from user (\\S+) (\\d+\\.\\d+\\.\\d+\\.\\d+) port (\\d+)'],
  ['pcre2', 'user.+ port (\\d+)'],
];

function nanoseconds(runs: number, work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return ((user + system) * 1000) / runs;
}

function show(label: string, value: number, unit = 'ns'): void {
  console.log(`${value.toFixed(1).padStart(10)} ${unit}  ${label}`);
}

function single(): void {
  for (const [language, source] of SINGLE) {
    const matcher = compilePattern(language, source);
    const runs = 300_000;
    const each = (method: 'test' | 'exec') => (): void => {
      for (let run = 0; run < runs; run += 1) {
        context.stepsLeft = Number.MAX_SAFE_INTEGER;
        matcher[method](LINE, context);
      }
    };
    each('exec')();
    const found = matcher.test(LINE, context) ? 'match' : 'no match';
    show(`${language} test  ${source}  (${found})`, nanoseconds(runs, each('test')));
    show(`${language} exec  ${source}  (${found})`, nanoseconds(runs, each('exec')));
  }
}

const LANGUAGES: readonly PatternLanguage[] = ['osmatch', 'osregex', 'pcre2'];

type Found = { readonly language: PatternLanguage; readonly source: string };

/** Patterns of a ruleset, by a rough reading of its files: enough for a figure. */
function patternsOf(directory: string): Found[] {
  const found = new Map<string, Found>();
  const defaults: Record<string, PatternLanguage> = {
    ...{ prematch: 'osregex', regex: 'osregex', field: 'osregex', match: 'osmatch', program_name: 'osmatch' },
    ...{ id: 'osmatch', user: 'osmatch', status: 'osmatch', hostname: 'osmatch', url: 'osmatch', location: 'osmatch' },
  };
  for (const part of ['decoders', 'rules']) {
    for (const file of readdirSync(join(directory, part))) {
      if (!file.endsWith('.xml')) continue;
      const text = readFileSync(join(directory, part, file), 'latin1').replace(/<!--[^]*?-->/g, '');
      for (const match of text.matchAll(/<(\w+)([^<>]*)>([^<>]+)<\/\1>/g)) {
        const [, element = '', attributes = '', source = ''] = match;
        const language = LANGUAGES.find((name) => attributes.includes(`type="${name}"`)) ?? defaults[element];
        if (language !== undefined) found.set(language + source, { language, source });
      }
    }
  }
  return [...found.values()];
}

function sweep(directory: string, corpus: string): void {
  const lines = gunzipSync(readFileSync(corpus)).toString('latin1').split('\n').filter(Boolean).slice(0, 2000);
  const matchers = new Map<PatternLanguage, Matcher[]>();
  const growth = new Map<string, number>();
  const sources = patternsOf(directory);
  const compile = nanoseconds(sources.length, () => {
    for (const { language, source } of sources) {
      try {
        const matcher = compilePattern(language, source);
        matchers.set(language, [...(matchers.get(language) ?? []), matcher]);
        const key = `${language} ${patternGrowth(matcher)} ${matcher.cost}`;
        growth.set(key, (growth.get(key) ?? 0) + 1);
      } catch (error) {
        if (!(error instanceof PatternError)) throw error;
      }
    }
  });
  show(`to compile a pattern (${String(sources.length)} patterns)`, compile / 1000, 'us');
  for (const [key, count] of growth) console.log(`${String(count).padStart(10)}     ${key}`);
  const look = (): void => {
    for (let pass = 0; pass < 20; pass += 1) for (const line of lines) context.subject(line);
  };
  look();
  show('to look at a line for the first time', nanoseconds(lines.length * 20, look));
  for (const [language, list] of matchers) {
    let matched = 0;
    const once = (some: readonly string[]) => (): void => {
      for (const line of some) {
        context.stepsLeft = Number.MAX_SAFE_INTEGER;
        for (const matcher of list) if (matcher.test(line, context)) matched += 1;
      }
    };
    const some = lines.slice(0, 300);
    once(some)();
    matched = 0;
    const cost = nanoseconds(some.length * list.length, once(some));
    const share = ((100 * matched) / (some.length * list.length)).toFixed(2);
    show(`${language}: ${String(list.length)} patterns, a line each (${share} % match)`, cost);
  }
}

single();
const [directory = sharedData('ruleset'), corpus = sharedData('corpus', 'typical-50k.log.gz')] = process.argv.slice(2);
if (directory === undefined || corpus === undefined) console.log('no ruleset and corpus: the sweep is left out');
else sweep(directory, corpus);
