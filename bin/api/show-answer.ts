import { isObject } from '../../lib/json/is-object.js';
import { shownLines, shownText } from '../terminal/shown-text.js';
import type { ApiAnswer } from './api-client.js';
import type { ApiStreams } from './api-streams.js';
import { itemTable } from './item-table.js';
import type { ApiFailure, ApiList } from './pages.js';

/** Forms of an answer: a table, the answer as the API gives it, or an item a line. */
export const OUTPUTS = ['table', 'json', 'lines'] as const;
export type ApiOutput = (typeof OUTPUTS)[number];

/** How answers are shown. */
export type ShowOptions = {
  readonly output: ApiOutput;
  /** Fields of a table. */
  readonly fields?: readonly string[];
};

/** Width of a table that goes to a file. */
const FILE_WIDTH = 200;
/** Ids of a failure that are named. */
const MAX_IDS = 20;

/** A table on a terminal, JSON elsewhere, unless somebody chose. */
export function outputOf(chosen: { output?: ApiOutput; json?: true }, { columns }: ApiStreams): ApiOutput {
  return chosen.output ?? (chosen.json === true || columns === undefined ? 'json' : 'table');
}

/** Shows a whole list. @returns 1 when something of it could not be done */
export async function showList(list: ApiList, options: ShowOptions, streams: ApiStreams): Promise<0 | 1> {
  const { affected_items: items } = list.data;
  if (options.output === 'json') {
    await streams.write(`${JSON.stringify(list)}\n`);
  } else if (options.output === 'lines') {
    await showLines(items, streams);
  } else {
    await showTable(list, options, streams);
  }
  return showFailures(list, streams);
}

/** Items, a line of JSON each. */
export async function showLines(items: readonly unknown[], streams: ApiStreams): Promise<void> {
  await streams.write(items.map((item) => `${JSON.stringify(item)}\n`).join(''));
}

/** Says what could not be done, and why. @returns 1 when there is such a thing */
export function showFailures(list: ApiList, { writeError }: ApiStreams): 0 | 1 {
  const { failed_items: failed, total_failed_items: total } = list.data;
  for (const one of failed) writeError(`svc-api: ${failureText(one)}\n`);
  return total > 0 ? 1 : 0;
}

/** An answer that is no list: an object, or a text. */
export async function showOther(answer: ApiAnswer, options: ShowOptions, streams: ApiStreams): Promise<0> {
  const newline = answer.text.endsWith('\n') ? '' : '\n';
  if (!answer.type.includes('json') || options.output !== 'table') {
    const raw = streams.columns === undefined ? answer.text : shownLines(answer.text);
    await streams.write(`${raw}${newline}`);
    return 0;
  }
  const body: unknown = JSON.parse(answer.text);
  const data = isObject(body) && 'data' in body ? body['data'] : body;
  const { lines } = itemTable([data], tableOptions(options, streams));
  await streams.write(`${lines.join('\n')}\n`);
  return 0;
}

async function showTable(list: ApiList, options: ShowOptions, streams: ApiStreams): Promise<void> {
  const { affected_items: items, total_affected_items: total } = list.data;
  if (items.length === 0) {
    streams.writeError(`svc-api: ${shownText(list.message)}${total > 0 ? '' : ' (0 items)'}\n`);
    return;
  }
  const { lines, left } = itemTable(items, tableOptions(options, streams));
  await streams.write(`${lines.join('\n')}\n`);
  if (left.length > 0) {
    streams.writeError(
      `svc-api: no room for ${left.length} more columns: --select ${left.slice(0, 2).join(',')}, or -o json\n`,
    );
  }
  if (items.length < total) streams.writeError(`svc-api: ${items.length} of ${total}\n`);
}

function tableOptions({ fields }: ShowOptions, { columns }: ApiStreams): { width: number; fields?: readonly string[] } {
  return { width: columns ?? FILE_WIDTH, ...(fields === undefined ? {} : { fields }) };
}

function failureText({ id, error }: ApiFailure): string {
  const ids = id.slice(0, MAX_IDS).map(String);
  const more = id.length > MAX_IDS ? ` and ${id.length - MAX_IDS} more` : '';
  const help = error.remediation ?? '';
  const reason = `${shownText(error.message)} (error ${error.code})`;
  return `not done for ${shownText(ids.join(', '))}${more}: ${reason}${help === '' ? '' : `\n  ${shownText(help)}`}`;
}
