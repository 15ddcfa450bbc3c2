import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { NdjsonBatch } from '../../../bin/logtest/ndjson-batch.js';
import { DEFAULT_STEP_BUDGET } from '../../../lib/engine/engine.js';
import type { EngineRuleset } from '../../../lib/engine/load/engine-ruleset.js';
import { rulesetOf } from '../../support/engine/shared-ruleset.js';
import { RecordingDiagnostics } from '../../support/recording-diagnostics.js';
import { sharedData } from '../../support/shared-data.js';

/** 2026-03-20T09:46:40Z, the frozen clock of the recordings. */
const CLOCK = 1_774_000_000;

type Answer = {
  readonly predecoder: Readonly<Record<string, string>>;
  readonly decoder: { readonly name?: string; readonly parent?: string };
  readonly data: unknown;
  readonly rule?: { readonly id: string; readonly level: number; readonly firedtimes: number };
  readonly alert: boolean;
};
type Sent = { readonly location?: string; readonly log?: string; readonly log_b64?: string };
type Stateless = Sent & {
  readonly expect: {
    readonly decoder: string | null;
    readonly parent: string | null;
    readonly fields: Readonly<Record<string, unknown>>;
    readonly program_name: string | null;
    readonly hostname: string | null;
    readonly timestamp: string | null;
    readonly rule: string | null;
    readonly level: number | null;
    readonly alert: boolean;
  };
};
type Session = {
  readonly events: readonly Sent[];
  readonly expect: readonly {
    readonly rule: string | null;
    readonly level: number | null;
    readonly firedtimes: number;
    readonly alert: boolean;
  }[];
};
type Case = {
  readonly file: string;
  readonly section: string;
  readonly rule: string;
  readonly level: string;
  readonly decoder: string;
  readonly runs: readonly { readonly events: readonly string[]; readonly expect: boolean }[];
};

function batchOn(ruleset: EngineRuleset): (session: string | null, event: Sent) => Answer {
  const batch = new NdjsonBatch({
    ruleset,
    diagnostics: new RecordingDiagnostics(),
    now: () => CLOCK * 1000,
    engine: {
      mode: 'test',
      origin: { managerName: 'manager-of-this-test', cluster: undefined, showHiddenLabels: false },
      logFirewall: false,
      budget: DEFAULT_STEP_BUDGET,
    },
  });
  return (session, event) =>
    JSON.parse(batch.answerLine(JSON.stringify({ session, location: 'stdin', ...event }))) as Answer;
}

/** Dotted names to texts; empty texts and objects count as absent, arrays are compared by value. */
function flatten(value: unknown, prefix = '', out = new Map<string, string>()): Map<string, string> {
  for (const [name, member] of Object.entries(value ?? {})) {
    if (typeof member === 'object' && member !== null && !Array.isArray(member)) {
      flatten(member, `${prefix}${name}.`, out);
    } else {
      const text = leaf(member);
      if (text !== '') out.set(prefix + name, text);
    }
  }
  return out;
}

function leaf(value: unknown): string {
  if (typeof value === 'string' && value.startsWith('[')) {
    try {
      return JSON.stringify(JSON.parse(value));
    } catch {
      return value;
    }
  }
  // bytes that are no UTF-8 may come out as one or several replacement characters
  return (typeof value === 'string' ? value : JSON.stringify(value)).replace(/\uFFFD+/g, '\uFFFD');
}

function ndjson<T>(path: string): T[] {
  const text = gunzipSync(readFileSync(path)).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

describe('the engine on a ruleset of the field', function () {
  this.timeout(60_000);
  const stock = sharedData('ruleset');

  before(function () {
    if (stock === undefined) {
      console.log('      (skipped: no shared test data)');
      this.skip();
    }
  });

  it('gives the recorded answer for single lines', () => {
    const ruleset = rulesetOf(stock!);
    const send = batchOn(ruleset);
    const wrong: string[] = [];
    for (const record of ndjson<Stateless>(sharedData('oracle-sample.ndjson.gz')!)) {
      const { expect: want, ...event } = record;
      const got = send(null, event);
      const differences: string[] = [];
      const compare = (what: string, a: unknown, b: unknown): void => {
        if ((a ?? '') !== (b ?? '')) differences.push(`${what}: ${String(a)} instead of ${String(b)}`);
      };
      compare('decoder', got.decoder.name, want.decoder);
      compare('parent', got.decoder.parent, want.parent);
      compare('program_name', got.predecoder['program_name'], want.program_name);
      compare('timestamp', got.predecoder['timestamp'], want.timestamp);
      if (want.hostname !== null) compare('hostname', got.predecoder['hostname'], want.hostname);
      compare(
        'fields',
        JSON.stringify([...flatten(got.data)].sort()),
        JSON.stringify([...flatten(want.fields)].sort()),
      );
      // The recorder's check_diff files held logs from before; what they were is not in the recording.
      if (ruleset.rules.byId.get(Number(want.rule))?.rule.checkDiff !== true) {
        compare('rule', got.rule?.id, want.rule);
        compare('level', got.rule?.level, want.level);
        compare('alert', got.alert, want.alert);
      }
      if (differences.length > 0) wrong.push(`${JSON.stringify(event)}: ${differences.join(', ')}`);
    }
    expect(wrong).to.deep.equal([]);
  });

  it('gives the recorded answers for sessions', () => {
    const send = batchOn(rulesetOf(stock!));
    ndjson<Session>(sharedData('oracle-sample-sessions.ndjson.gz')!).forEach((session, s) => {
      const got = session.events.map((event) => {
        const { rule, alert } = send(`session ${String(s)}`, event);
        return { rule: rule?.id ?? null, level: rule?.level ?? null, firedtimes: rule?.firedtimes ?? 0, alert };
      });
      const want = session.expect.map((each, i) =>
        each.rule === null ? { ...each, firedtimes: got[i]!.firedtimes } : each,
      );
      expect(got, `session ${String(s)}`).to.deep.equal(want);
    });
  });

  describe("with the ruleset's own test rules", () => {
    let dir: string;

    before(() => {
      dir = mkdtempSync(join(tmpdir(), 'ruleset-'));
      for (const part of ['decoders', 'rules', 'lists']) {
        cpSync(join(stock!, part), join(dir, part), { recursive: true });
      }
      for (const file of readdirSync(join(stock!, 'extra')).filter((name) => !name.includes('geoip'))) {
        cpSync(join(stock!, 'extra', file), join(dir, file.endsWith('_decoders.xml') ? 'decoders' : 'rules', file));
      }
      // the recordings were made with the Windows root reading JSON lines
      const path = join(dir, 'rules', '0575-win-base_rules.xml');
      const text = readFileSync(path, 'latin1');
      const start = text.indexOf('<rule id="60000"');
      const end = text.indexOf('</rule>', start);
      const root = text
        .slice(start, end)
        .replace(/\s*<category>[^<]*<\/category>/, '')
        .replace(/<decoded_as>[^<]*<\/decoded_as>/, '<decoded_as>json</decoded_as>');
      writeFileSync(path, text.slice(0, start) + root + text.slice(end), 'latin1');
    });

    after(() => {
      rmSync(dir, { recursive: true });
    });

    it('gives the expected rule, level and decoder for every case', () => {
      const send = batchOn(rulesetOf(dir));
      const cases = JSON.parse(readFileSync(sharedData('ruleset-cases.json')!, 'utf8')) as readonly Case[];
      const wrong: string[] = [];
      let judged = 0;
      cases.forEach((each, c) => {
        // needs a GeoIP database
        if (each.file.endsWith('geoip.ini')) return;
        each.runs.forEach(({ events, expect: matches }, r) => {
          // such runs are satisfied by every answer
          if (events.length === 0 || (!matches && [each.rule, each.level, each.decoder].includes(''))) return;
          judged += 1;
          const answers = events.map((log) => send(`${String(c)}-${String(r)}`, { log }));
          const { rule, decoder } = answers.at(-1)!;
          const got = [rule?.id ?? '', String(rule?.level ?? ''), decoder.name ?? ''].join();
          const want = [each.rule, each.level, each.decoder].join();
          if ((got === want) !== matches) wrong.push(`${each.file} [${each.section}]: ${got}, expected ${want}`);
        });
      });
      expect(wrong).to.deep.equal([]);
      expect(judged).to.be.greaterThan(500);
    });
  });
});
