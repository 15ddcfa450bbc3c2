import { Command, InvalidArgumentError } from 'commander';
import { versionText } from '../../lib/product/version.js';
import {
  filterProblem,
  isReportField,
  REPORT_FIELDS,
  type ReportField,
  type ReportFilter,
  type ReportRelation,
} from '../../lib/report/report-fields.js';
import { dayOf, type LocalDay } from '../../lib/time/local-day.js';

export const PROGRAM = 'svc-report';

/** What the arguments ask for. */
export type ReportCommandOptions = {
  readonly f?: readonly ReportFilter[];
  readonly r?: readonly ReportRelation[];
  readonly n?: string;
  readonly s?: true;
  readonly d?: true;
  readonly date?: LocalDay;
  readonly stdout?: true;
  readonly home?: string;
};

/** Options with two values, which the parser of arguments does not have: they are handed over as one, with a blank between. */
const PAIRS = new Set(['-f', '-r']);
const BETWEEN = ' ';

/** Arguments in which both values of an option are one. */
export function joinPairs(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i] ?? '';
    joined.push(arg);
    const [name, value] = args.slice(i + 1, i + 3);
    if (!PAIRS.has(arg) || name === undefined || value === undefined) continue;
    joined.push(name + BETWEEN + value);
    i += 2;
  }
  return joined;
}

/** The program's options; its arguments go through {@link joinPairs} first. */
export function reportOptions(): Command {
  return new Command(PROGRAM)
    .description(
      'Sums alerts up: reads alerts.json or alerts.log on standard input and writes a report to standard error.\n' +
        `Filters are ${REPORT_FIELDS.join(', ')}.`,
    )
    .version(versionText(PROGRAM), '-V, --version', 'show version and licence')
    .helpOption('-h, --help', 'show this help')
    .allowExcessArguments(false)
    .option(
      '-f <filter> <value>',
      'only alerts of which the filter holds; may be repeated, then all must hold',
      addFilter,
    )
    .option(
      '-r <filter> <filter>',
      'list what the second has beside each value of the first; may be repeated',
      addRelation,
    )
    .option('-n <name>', 'name of the report')
    .option('-s', 'show the alerts, too')
    .option('-d', 'tell what was read')
    .option('--date <YYYY-MM-DD>', 'read the alerts of this day from the home instead', readDay)
    .option('--stdout', 'write the report to standard output')
    .option('--home <dir>', 'home of the manager');
}

function addFilter(pair: string, filters: readonly ReportFilter[] = []): ReportFilter[] {
  const [name, value] = split(pair);
  const filter = { field: field(name), value };
  const problem = filterProblem(filter);
  if (problem !== undefined) throw new InvalidArgumentError(`'${value}' is no ${name}: ${problem}.`);
  return [...filters, filter];
}

function addRelation(pair: string, relations: readonly ReportRelation[] = []): ReportRelation[] {
  const [name, by] = split(pair);
  return [...relations, { field: field(name), by: field(by) }];
}

function split(pair: string): readonly [string, string] {
  const end = pair.indexOf(BETWEEN);
  if (end < 0) throw new InvalidArgumentError('Two values are needed.');
  return [pair.slice(0, end), pair.slice(end + 1)];
}

function field(name: string): ReportField {
  if (isReportField(name)) return name;
  throw new InvalidArgumentError(`There is no filter '${name}': it is one of ${REPORT_FIELDS.join(', ')}.`);
}

function readDay(text: string): LocalDay {
  const [, year, month, day] = (/^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) throw notADay();
  const found = dayOf(new Date(year, month - 1, day));
  if (found.year !== year || found.month !== month - 1 || found.day !== day) throw notADay();
  return found;
}

function notADay(): InvalidArgumentError {
  return new InvalidArgumentError('A day is needed, such as 2026-11-25.');
}
