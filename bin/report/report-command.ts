import { readHomeRecord } from '../../lib/home/home-record.js';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { describeError } from '../../lib/log/describe-error.js';
import { formatLogTime, formatPlainLine } from '../../lib/log/log-line.js';
import { ALERT_FILES } from '../../lib/output/dated-files.js';
import { usageErrors } from '../../lib/product/usage-errors.js';
import { AlertReport } from '../../lib/report/alert-report.js';
import { readDay } from '../../lib/report/read-day.js';
import { ReportReader } from '../../lib/report/report-reader.js';
import type { LocalDay } from '../../lib/time/local-day.js';
import { joinPairs, PROGRAM, type ReportCommandOptions, reportOptions } from './report-options.js';

export type ReportStreams = {
  readonly input: AsyncIterable<Buffer> & { readonly isTTY?: boolean };
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
};

/** The two forms of a day's alerts; the first has all there is of an alert. */
const EXTENSIONS = [ALERT_FILES.extension, 'log'];

/**
 * `svc-report`: a report about alerts (daemons-and-config.md 8.4).
 * @param args without node and script
 * @returns exit code: 0 the report was written or no alert was left, 1 something could not be read or understood
 */
export async function reportCommand(args: readonly string[], streams: ReportStreams): Promise<number> {
  const command = reportOptions()
    .configureOutput({ writeOut: streams.write, writeErr: streams.writeError, ...usageErrors(PROGRAM) })
    .exitOverride();
  try {
    command.parse(joinPairs(args), { from: 'user' });
  } catch (error) {
    return error instanceof Error && 'exitCode' in error && error.exitCode === 0 ? 0 : 1;
  }
  const options = command.opts<ReportCommandOptions>();
  const { n: name, f: filters = [], r: relations = [], s: showLogs = false } = options;
  return new ReportRun(options, streams, new AlertReport({ name, filters, relations, showLogs })).run();
}

class ReportRun {
  readonly #options: ReportCommandOptions;
  readonly #streams: ReportStreams;
  readonly #report: AlertReport;
  readonly #reader: ReportReader;

  constructor(options: ReportCommandOptions, streams: ReportStreams, report: AlertReport) {
    this.#options = options;
    this.#streams = streams;
    this.#report = report;
    this.#reader = new ReportReader((alert) => {
      report.add(alert);
    });
  }

  async run(): Promise<number> {
    const { date, stdout = false, d: debug = false } = this.#options;
    const whole = date === undefined ? await this.#readInput() : await this.#readDay(date);
    if (whole === undefined) return 1;
    const { form, badLines } = this.#reader;
    if (form === undefined && badLines > 0) {
      this.#say('The input is neither alerts.json nor alerts.log: it has no alert.');
      return 1;
    }
    if (debug) this.#say(`${String(this.#report.processed)} alerts were read (${form ?? 'nothing'}).`);
    if (badLines > 0) this.#say(`${String(badLines)} lines are no alerts and were left out.`);
    const { writeError, write } = this.#streams;
    if (this.#report.matched > 0) {
      (stdout ? write : writeError)(this.#report.text());
    } else {
      writeError(
        `${formatPlainLine(formatLogTime(new Date()), PROGRAM, 'info', this.#report.nothingLeft, undefined)}\n`,
      );
    }
    return whole ? 0 : 1;
  }

  /** @returns whether all of it was read; undefined when nothing is to be reported */
  async #readInput(): Promise<boolean | undefined> {
    const { input } = this.#streams;
    if (input.isTTY === true) {
      this.#say(
        `Alerts are read from standard input: ${PROGRAM} < logs/alerts/alerts.json; or name a day with --date.`,
      );
      return undefined;
    }
    try {
      for await (const chunk of input) this.#reader.push(chunk);
      this.#reader.end();
      return true;
    } catch (error) {
      this.#say(`The input cannot be read to its end: ${describeError(error)}`);
      return undefined;
    }
  }

  /** @returns the same */
  async #readDay(day: LocalDay): Promise<boolean | undefined> {
    const home = resolveHome(this.#options.home);
    try {
      readHomeRecord(home);
      const directory = home.path('logs', 'alerts');
      let whole = true;
      const onDamage = (message: string): void => {
        whole = false;
        this.#say(message);
      };
      for (const extension of EXTENSIONS) {
        const name = { directory, stem: ALERT_FILES.stem, extension };
        if ((await readDay(name, day, this.#reader, { onDamage })) > 0) return whole;
      }
      this.#say(`There are no alerts of that day in '${directory}'.`);
    } catch (error) {
      this.#say(describeError(error));
    }
    return undefined;
  }

  #say(text: string): void {
    this.#streams.writeError(`${PROGRAM}: ${text}\n`);
  }
}
