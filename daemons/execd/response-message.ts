import { MAX_RESPONSE_BYTES } from '../../lib/bus/contracts/execd.js';
import { isObject } from '../../lib/json/is-object.js';
import { ResponseError } from './response-error.js';

/** Of a message that is refused so much is shown. */
const SHOWN_CHARACTERS = 256;
/** The key of a response is cut at so many bytes (daemons-and-config.md 5.3). */
const MAX_KEY_BYTES = 4096;
/** Keys in one question; scripts have one or two. */
const MAX_KEYS = 64;

/** How scripts are told who speaks to them: it is part of the contract (daemons-and-config.md 5.3). */
const SPEAKER = 'wazuh-execd';

/** What svc-execd tells a script. */
export type ScriptOrder = 'add' | 'continue' | 'abort' | 'delete';

/** A message of daemons-and-config.md 5.2. */
export type ResponseMessage = {
  /** Name of the response, or `!file`. */
  readonly command: string;
  /** All of it, `parameters` being an object. */
  readonly body: Readonly<Record<string, unknown>> & { readonly parameters: Readonly<Record<string, unknown>> };
};

/** @throws ResponseError `bad_message` (1315), (1316) */
export function parseResponseMessage(text: string): ResponseMessage {
  const shown = text.slice(0, SHOWN_CHARACTERS);
  if (Buffer.byteLength(text) > MAX_RESPONSE_BYTES) {
    throw new ResponseError('bad_message', `(1315): Invalid JSON message: '${shown}': it is too long`);
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new ResponseError('bad_message', `(1315): Invalid JSON message: '${shown}'`, { cause: error });
  }
  if (!isObject(body)) throw new ResponseError('bad_message', `(1315): Invalid JSON message: '${shown}'`);
  const { command, parameters = {} } = body;
  if (typeof command !== 'string' || command === '' || !isObject(parameters)) {
    throw new ResponseError('bad_message', `(1316): Invalid AR command: '${shown}'`);
  }
  return { command, body: { ...body, parameters } };
}

/** The same message with other `extra_args`. */
export function withArguments({ command, body }: ResponseMessage, extraArgs: readonly string[]): ResponseMessage {
  return { command, body: { ...body, parameters: { ...body.parameters, extra_args: extraArgs } } };
}

/** One line for a script: the message with what it is to do. @param program as it is called */
export function scriptLine({ body }: ResponseMessage, order: ScriptOrder, program: string): string {
  const origin = isObject(body['origin']) ? body['origin'] : { name: '' };
  const { parameters } = body;
  return JSON.stringify({
    ...body,
    origin: { ...origin, module: SPEAKER },
    command: order,
    parameters: { ...parameters, program },
  });
}

/** Addresses of the alert that scripts may lock out, in the order they are looked for (daemons-and-config.md 5.4). */
export function alertAddresses({ body }: ResponseMessage): readonly string[] {
  const { alert } = body.parameters;
  const data = isObject(alert) && isObject(alert['data']) ? alert['data'] : {};
  const win = isObject(data['win']) && isObject(data['win']['eventdata']) ? data['win']['eventdata'] : {};
  return [win['ipAddress'], win['destinationIp'], data['srcip']].filter((value) => typeof value === 'string');
}

/** Keys of a `check_keys` question; undefined when the line is none. */
export function parseCheckKeys(line: string): readonly string[] | undefined {
  let question: unknown;
  try {
    question = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isObject(question) || question['command'] !== 'check_keys' || !isObject(question['parameters'])) {
    return undefined;
  }
  const { keys } = question['parameters'];
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_KEYS) return undefined;
  return keys.every((key) => typeof key === 'string') ? keys : undefined;
}

/** What a response is known by while it is in force: `<script>-<key>[-<key>...]` (daemons-and-config.md 5.3). */
export function responseKey(script: string, keys: readonly string[]): string {
  const text = Buffer.from([script, ...keys].join('-'), 'utf8');
  return text.length <= MAX_KEY_BYTES ? text.toString('utf8') : text.subarray(0, MAX_KEY_BYTES).toString('utf8');
}
