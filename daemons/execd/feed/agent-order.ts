import { parseRelease } from '../../../lib/agentlink/release-version.js';
import { responseMessage, type ResponseOrder } from '../../../lib/agentlink/response-message.js';
import { takesTextOrders } from '../../../lib/agentlink/restart-order.js';
import { isObject } from '../../../lib/json/is-object.js';

/** Bytes of the text form (rules-and-alerts.md 8.3). */
const MAX_TEXT = 1023;
const NONE = '-';
/** Characters of a file's name that a shell may take for something else. */
const FOR_SHELLS = /[^\w@%+=:,./-]/g;
/** What agents 4.2.0 to 4.2.4 would hand to a shell. */
const UNSAFE = /[!$'`]/g;

/**
 * The control message for an agent, without its header (agents-and-groups.md 4.5), as its version takes it
 * (rules-and-alerts.md 8.3).
 * @param version as agents say theirs: `Wazuh v4.14.7`
 */
export function agentOrder(order: ResponseOrder, version: string): string {
  if (takesTextOrders(version)) return `execd ${textForm(order)}`;
  const message = responseMessage(order);
  const [major, minor, patch] = parseRelease(version) ?? [];
  const escapes = major === 4 && minor === 2 && patch !== undefined && patch <= 4;
  return `execd ${escapes ? message.replace(UNSAFE, escaped) : message}`;
}

function escaped(character: string): string {
  return `\\\\x${character.charCodeAt(0).toString(16)}`;
}

/** `name user ip seconds.offset rule location file arguments`; old agents cut it at blanks. */
function textForm({ command, extraArgs, alert }: ResponseOrder): string {
  const [data, rule, syscheck] = [object(alert['data']), object(alert['rule']), object(alert['syscheck'])];
  const words = [
    command,
    word(data['dstuser']),
    word(data['srcip']),
    word(alert['id']),
    word(rule['id']),
    word(alert['location']),
    fileName(syscheck['path']),
    extraArgs.length === 0 ? NONE : extraArgs.join(' '),
  ];
  return Buffer.from(words.join(' '))
    .subarray(0, MAX_TEXT)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
}

/** One word: a blank in it would move all that follow. */
function word(value: unknown): string {
  const text = typeof value === 'string' ? value.replace(/[\s\u0000-\u001f]+/g, '_') : '';
  return text === '' ? NONE : text;
}

function fileName(path: unknown): string {
  return word(path).replace(FOR_SHELLS, String.raw`\$&`);
}

function object(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}
