import type { Command } from 'commander';
import { API_METHODS, type ApiMethod, type ApiOperation, findOperation } from './operations.js';
import { queryParameters } from './request-line.js';
import { ApiUsageError } from './usage-error.js';

/** What a word may become. A blank at the end says that it is complete. */
export type Completion = { readonly word: string; readonly description: string };

/**
 * What the last word of a line may become: commands, paths, parameters and their values, options.
 * @param line as typed so far, with the name of the program
 * @param commands those of the program
 */
export function complete(
  line: string,
  operations: readonly ApiOperation[],
  commands: readonly Command[],
): readonly Completion[] {
  const words = line.trimStart().split(/\s+/).slice(1).map(unquoted);
  const last = words.pop() ?? '';
  const [first] = words;
  if (first === undefined) return offered(last, commandOffers(commands));
  const method = API_METHODS.find((one) => one === first.toUpperCase());
  const command = commands.find((one) => one.name() === first || one.name() === method);
  if (last.startsWith('-')) return offered(last, optionOffers(leafOf(command, words)));
  if (method !== undefined) return requestOffers(method, words.slice(1), last, operations);
  if (words.length === 1 && command !== undefined) {
    const choices = command.registeredArguments[0]?.argChoices ?? [];
    const values = choices.map((word) => ({ word: `${word} `, description: '' }));
    return offered(last, [...commandOffers(command.commands), ...values]);
  }
  return [];
}

function leafOf(command: Command | undefined, words: readonly string[]): Command | undefined {
  return command?.commands.find((one) => one.name() === words[1]) ?? command;
}

function commandOffers(commands: readonly Command[]): Completion[] {
  return commands.map((command) => ({ word: `${command.name()} `, description: command.description() }));
}

function optionOffers(command: Command | undefined): Completion[] {
  return (command?.options ?? []).flatMap(({ long, description }) =>
    typeof long === 'string' ? [{ word: `${long} `, description }] : [],
  );
}

function requestOffers(
  method: ApiMethod,
  words: readonly string[],
  last: string,
  operations: readonly ApiOperation[],
): readonly Completion[] {
  const [target] = words.filter((word) => word.startsWith('/'));
  if (target !== undefined) return parameterOffers(method, target, last, '', ' ', operations);
  const at = last.indexOf('?');
  if (at < 0) return pathOffers(method, last, operations);
  const start = last.lastIndexOf('&') + 1 || at + 1;
  return parameterOffers(method, last, last.slice(start), last.slice(0, start), '', operations);
}

/** Paths that go on as typed; what was typed for a place stays, a place that nobody has filled stands as it is. */
function pathOffers(method: ApiMethod, typed: string, operations: readonly ApiOperation[]): readonly Completion[] {
  const given = typed.split('/');
  const offers = new Map<string, string>();
  for (const operation of operations.filter((one) => one.method === method)) {
    const expected = operation.path.split('/');
    if (expected.length < given.length) continue;
    const goesOn = given.every((text, index) => {
      const name = expected[index] ?? '';
      if (name.startsWith('{')) return fillsPlace(operation, name, text, index === given.length - 1);
      return index === given.length - 1 ? name.startsWith(text) : name === text;
    });
    if (!goesOn) continue;
    const filled = expected.map((name, index) => {
      const text = given[index] ?? '';
      return name.startsWith('{') && text !== '' && !name.startsWith(text) ? text : name;
    });
    const open = filled.findIndex((name) => name.startsWith('{'));
    // A place is for somebody to fill: it is offered up to there, unless that is what stands there already.
    const before = `${filled.slice(0, open).join('/')}/`;
    const word = open < 0 ? `${filled.join('/')} ` : before === typed ? filled.slice(0, open + 1).join('/') : before;
    if (!offers.has(word)) offers.set(word, operation.summary);
  }
  return [...offers].map(([word, description]) => ({ word, description }));
}

/** Whether a place may have what was typed for it: a value of its form, or the beginning of its own name. */
function fillsPlace({ parameters }: ApiOperation, place: string, text: string, last: boolean): boolean {
  if (text === '') return last;
  const pattern = parameters.find(({ name }) => `{${name}}` === place)?.rule.pattern;
  return place.startsWith(text) || pattern === undefined || new RegExp(pattern, 'u').test(text);
}

/** Names and values of parameters. @param prefix of the word, before the parameter @param end of a complete one */
function parameterOffers(
  method: ApiMethod,
  target: string,
  typed: string,
  prefix: string,
  end: string,
  operations: readonly ApiOperation[],
): readonly Completion[] {
  let operation: ApiOperation;
  try {
    operation = findOperation(operations, method, target.split('?')[0] ?? '');
  } catch (error) {
    if (error instanceof ApiUsageError) return [];
    throw error;
  }
  const parameters = queryParameters(operation);
  const at = typed.indexOf('=');
  if (at < 0) {
    return offered(
      `${prefix}${typed}`,
      parameters.map(({ name, description }) => ({ word: `${prefix}${name}=`, description })),
    );
  }
  const parameter = parameters.find(({ name }) => name === typed.slice(0, at));
  const values = parameter?.rule.type === 'boolean' ? ['true', 'false'] : (parameter?.rule.enum ?? []).map(String);
  const start = `${prefix}${typed.slice(0, at + 1)}`;
  return offered(
    `${prefix}${typed}`,
    values.map((value) => ({ word: `${start}${value}${end}`, description: '' })),
  );
}

function offered(typed: string, offers: readonly Completion[]): readonly Completion[] {
  return offers.filter(({ word }) => word.startsWith(typed)).sort((a, b) => (a.word < b.word ? -1 : 1));
}

/** A word without the quote that it begins with: paths with a query have one. */
function unquoted(word: string): string {
  return word.replace(/^['"]|['"]$/g, '');
}
