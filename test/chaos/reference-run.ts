import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings, type Settings } from '../../daemons/analysisd/settings.js';
import { StatisticsFiles } from '../../daemons/analysisd/statistics-files.js';
import { DEFAULT_STEP_BUDGET, Engine, type EngineHooks } from '../../lib/engine/engine.js';
import { DEFAULT_STATE_OPTIONS, EngineState } from '../../lib/engine/engine-state.js';
import type { EngineRuleset } from '../../lib/engine/load/engine-ruleset.js';
import type { EventOutcome } from '../../lib/engine/outcome.js';
import { readLocation } from '../../lib/engine/predecode/read-location.js';
import { Home } from '../../lib/home/home.js';
import { loadingOf } from '../../lib/ruleset/loading-settings.js';
import { compileRuleset } from '../../lib/ruleset/read-ruleset.js';
import { readOutput } from '../support/read-output.js';
import { RecordingDiagnostics } from '../support/recording-diagnostics.js';
import { removeTree } from '../support/remove-tree.js';
import { DECODERS, rulesetVersionIn, rulesText } from './numbered-events.js';
import { type OutputName, outputParts } from './output-parts.js';

/** Bytes of a difference that are shown. */
const SHOWN = 160;

type Archived = {
  readonly timestamp: string;
  readonly id: string;
  readonly location: string;
  readonly full_log: string;
  readonly rule?: { readonly description: string };
};

/** An output as it lies on disk, compared record by record with what it should be. */
class ComparedOutput {
  difference: string | undefined;
  readonly #name: OutputName;
  readonly #parts: readonly { readonly path: string; readonly bytes: Buffer }[];
  #part = 0;
  #position = 0;

  constructor(home: Home, name: OutputName) {
    this.#name = name;
    this.#parts = outputParts(home, name).map((path) => ({ path, bytes: readOutput(path) }));
  }

  get position(): number {
    return this.#position;
  }

  /** Goes on in the next part, when this one is at its end and there is one. */
  advance(): void {
    if (this.#position !== this.#bytes.length || this.#part + 1 >= this.#parts.length) return;
    this.#part += 1;
    this.#position = 0;
  }

  append(record: string): void {
    const expected = Buffer.from(record, 'latin1');
    const found = this.#bytes.subarray(this.#position, this.#position + expected.length);
    if (!found.equals(expected)) this.#differs(record, found);
    this.#position += expected.length;
  }

  /** To be called behind the last record. */
  finish(): void {
    this.advance();
    const left = this.#bytes.length - this.#position;
    if (left !== 0 || this.#part + 1 < this.#parts.length) this.#differs('(end)', this.#bytes.subarray(this.#position));
  }

  get #bytes(): Buffer {
    return this.#parts[this.#part]?.bytes ?? Buffer.alloc(0);
  }

  #differs(expected: string, found: Buffer): void {
    const path = this.#parts[this.#part]?.path ?? this.#name;
    let first = 0;
    while (first < found.length && expected.charCodeAt(first) === found[first]) first += 1;
    const from = Math.max(0, first - SHOWN / 2);
    this.difference ??=
      `${path} differs at byte ${String(this.#position + first)} from what an uninterrupted engine writes:\n` +
      `    there    ...${found.toString('latin1', from, from + SHOWN)}\n` +
      `    expected ...${expected.slice(from, from + SHOWN)}`;
  }
}

/**
 * Gives the events of archives.json, in their order and with their receive times, to one engine that is never
 * interrupted, and compares all it writes with the outputs on disk, byte for byte. Rules change where an event was
 * analysed by other rules than the one before. Which part a record went to is taken from the disk.
 * @returns the first difference of each output
 */
export function compareWithReference(home: Home): string[] {
  const settings = loadSettings(home);
  const outputs = {
    text: new ComparedOutput(home, 'alerts.log'),
    json: new ComparedOutput(home, 'alerts.json'),
    archives: new ComparedOutput(home, 'archives.json'),
  };
  const totals = new ReferenceTotals();
  let version = 0;
  let engine: Engine | undefined;
  for (const archived of archivedEvents(home)) {
    const eventVersion = rulesetVersionIn(archived.rule?.description ?? '') ?? version;
    if (eventVersion !== version || engine === undefined) {
      version = eventVersion;
      engine = makeEngine(
        home,
        settings,
        Math.max(1, version),
        engine,
        totals.hooks(() => engine),
      );
    }
    const outcome = engine.process({
      queue: '1',
      ...readLocation(archived.location),
      message: archived.full_log,
      receivedAt: Date.parse(archived.timestamp),
    });
    // The place in alerts.log behind the event: a smaller one than before is in the next part.
    if (Number(archived.id.split('.')[1]) < outputs.text.position) outputs.text.advance();
    write(engine, outcome, outputs);
  }
  Object.values(outputs).forEach((output) => {
    output.finish();
  });
  return [...Object.values(outputs).flatMap(({ difference }) => difference ?? []), ...totals.differences(home)];
}

/** Totals of the hours that ended, as an engine counts them that is never interrupted. */
class ReferenceTotals {
  readonly #home = new Home(mkdtempSync(join(tmpdir(), 'svc-totals-')));
  readonly #files = new StatisticsFiles(this.#home.path('stats'), new Date());

  hooks(engine: () => Engine | undefined): EngineHooks {
    return {
      hourEnded: (report) => {
        const isDayOver = report.hourKey.split('T')[0] !== report.nextHourKey.split('T')[0];
        this.#files.appendTotals(report, isDayOver ? engine()?.state.statistics.counts : undefined);
      },
    };
  }

  /** Closes them and compares. */
  differences(home: Home): string[] {
    this.#files.close();
    const read = (from: Home): string[] => outputParts(from, 'totals').map((path) => readOutput(path).toString());
    const [expected, there] = [read(this.#home), read(home)];
    removeTree(this.#home.root);
    if (JSON.stringify(expected) === JSON.stringify(there)) return [];
    return [`totals of hours are\n${there.join('---\n')}and should be\n${expected.join('---\n')}`];
  }
}

function write(
  engine: Engine,
  outcome: EventOutcome,
  outputs: Record<'text' | 'json' | 'archives', ComparedOutput>,
): void {
  const { text, json, archives } = outputs;
  const seconds = Math.floor(outcome.event.receivedAt / 1000);
  for (const alert of [outcome.statistics, outcome.isAlert ? outcome.alert : undefined]) {
    if (alert === undefined) continue;
    const id = `${String(seconds)}.${String(text.position)}`;
    text.append(engine.alertText(alert, id));
    json.advance();
    json.append(`${engine.alertJson(alert, { id })}\n`);
  }
  const id = `${String(seconds)}.${String(text.position)}`;
  archives.advance();
  archives.append(`${engine.alertJson(outcome.alert, { id, alwaysFullLog: true })}\n`);
}

function* archivedEvents(home: Home): Generator<Archived> {
  for (const path of outputParts(home, 'archives.json')) {
    for (const line of readOutput(path).toString('latin1').split('\n')) {
      if (line !== '') yield JSON.parse(line) as Archived;
    }
  }
}

function makeEngine(
  home: Home,
  settings: Settings,
  version: number,
  before: Engine | undefined,
  hooks: EngineHooks,
): Engine {
  const diagnostics = new RecordingDiagnostics();
  const mitre = home.path('ruleset', 'mitre', 'attack.json');
  const sources = {
    decoders: [{ path: 'etc/decoders/chaos.xml', content: DECODERS }],
    rules: [{ path: 'etc/rules/chaos.xml', content: rulesText(version) }],
    lists: [],
    mitre: existsSync(mitre) ? readFileSync(mitre, 'utf8') : null,
  };
  const ruleset = compileRuleset(sources, loadingOf(settings), diagnostics);
  return new Engine({
    ruleset,
    state: before?.state.transferTo(ruleset.rules) ?? newState(settings, ruleset),
    options: { mode: 'live', origin: settings.origin, logFirewall: true, budget: DEFAULT_STEP_BUDGET },
    diagnostics,
    hooks,
  });
}

function newState({ options, config }: Settings, { rules }: EngineRuleset): EngineState {
  return new EngineState(rules, {
    ...DEFAULT_STATE_OPTIONS,
    firstTimeSeen: {
      listSize: options.get('analysisd.fts_list_size'),
      minSize: options.get('analysisd.fts_min_size_for_str'),
    },
    statistics: {
      level: config.global.stats,
      maxDiff: options.get('analysisd.stats_maxdiff'),
      minDiff: options.get('analysisd.stats_mindiff'),
      percentDiff: options.get('analysisd.stats_percent_diff'),
    },
  });
}
