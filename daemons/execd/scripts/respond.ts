import { isIP } from 'node:net';
import { basename } from 'node:path';
import { isObject } from '../../../lib/json/is-object.js';
import { DISABLE_ACCOUNT } from './disable-account.js';
import { FIREWALL_DROP } from './firewall-drop.js';
import { HOST_DENY } from './host-deny.js';
import type { Response, ResponseHost } from './response.js';
import { RESTART_MANAGER } from './restart-manager.js';
import { ROUTE_NULL } from './route-null.js';

/** Our responses, by the name of the file they are called as. */
const RESPONSES: ReadonlyMap<string, Response> = new Map([
  ['firewall-drop', FIREWALL_DROP],
  ['default-firewall-drop', FIREWALL_DROP],
  ['host-deny', HOST_DENY],
  ['route-null', ROUTE_NULL],
  ['disable-account', DISABLE_ACCOUNT],
  ['restart-manager', RESTART_MANAGER],
  ['restart-wazuh', RESTART_MANAGER],
]);

/** A user as accounts are named; a name that begins with `-` would be an option of a tool. */
const USER = /^[a-zA-Z0-9._@][a-zA-Z0-9._@-]{0,63}$/;

export type RespondParts = {
  /** As it was called: `active-response/bin/host-deny`. */
  readonly called: string;
  readonly host: ResponseHost;
  /** The next line of the input; undefined at its end. */
  readonly readLine: () => Promise<string | undefined>;
  readonly write: (text: string) => void;
  /** Appends a line to logs/active-responses.log. */
  readonly log: (text: string) => void;
};

/** A response that cannot be carried out; the message is what the log says (daemons-and-config.md 5.4). */
class UnusableInputError extends Error {
  override readonly name = 'UnusableInputError';
}

/**
 * One run of a response of ours: the dialogue of daemons-and-config.md 5.3 from the script's side, with the lines that every
 * stock script logs.
 * @returns the exit code
 */
export async function respond(parts: RespondParts): Promise<number> {
  const { called, log } = parts;
  log('Starting');
  const response = RESPONSES.get(basename(called));
  if (response === undefined) {
    log(`There is no response '${basename(called)}'`);
    return 1;
  }
  try {
    const problem = await act(parts, response);
    if (problem === 'aborted') return 0;
    if (problem !== undefined) log(problem);
    log('Ended');
    return problem === undefined ? 0 : 1;
  } catch (error) {
    if (!(error instanceof UnusableInputError)) throw error;
    log(error.message);
    return 1;
  }
}

async function act(parts: RespondParts, response: Response): Promise<string | undefined> {
  const { host, log } = parts;
  const { command, parameters } = await readOrder(parts);
  if (command !== 'add' && command !== 'delete') throw new UnusableInputError("Invalid value of 'command'");
  const alert = isObject(parameters['alert']) ? parameters['alert'] : {};
  const subject = subjectOf(response, isObject(alert['data']) ? alert['data'] : {});
  if (command === 'delete') return response.remove?.(subject, host);
  const origin = { name: basename(parts.called), module: 'active-response' };
  const question = { version: 1, origin, command: 'check_keys', parameters: { keys: [subject] } };
  log(JSON.stringify(question));
  parts.write(`${JSON.stringify(question)}\n`);
  const answer = await readOrder(parts);
  if (answer.command === 'abort') {
    log('Aborted');
    return 'aborted';
  }
  if (answer.command !== 'continue') throw new UnusableInputError("Invalid value of 'command'");
  return response.add(subject, host);
}

type Order = { readonly command: unknown; readonly parameters: Readonly<Record<string, unknown>> };

/** @throws UnusableInputError */
async function readOrder({ readLine, log }: RespondParts): Promise<Order> {
  const line = await readLine();
  if (line === undefined) throw new UnusableInputError('Cannot read input from stdin');
  log(line);
  let order: unknown;
  try {
    order = JSON.parse(line);
  } catch {
    throw new UnusableInputError('Invalid input format');
  }
  if (!isObject(order)) throw new UnusableInputError('Invalid input format');
  return { command: order['command'], parameters: isObject(order['parameters']) ? order['parameters'] : {} };
}

/** Whom a response is about. @throws UnusableInputError */
function subjectOf({ subject }: Response, data: Readonly<Record<string, unknown>>): string {
  switch (subject) {
    case 'nothing':
      return 'restart';
    case 'user': {
      const { dstuser } = data;
      if (typeof dstuser === 'string' && USER.test(dstuser)) return dstuser;
      throw new UnusableInputError("Cannot read 'dstuser' from data or invalid username format");
    }
    case 'address':
      return addressOf(data);
  }
}

/** In the order stock scripts look for it. @throws UnusableInputError */
function addressOf(data: Readonly<Record<string, unknown>>): string {
  const win = isObject(data['win']) ? data['win'] : {};
  const event = isObject(win['eventdata']) ? win['eventdata'] : {};
  const found = [event['ipAddress'], event['destinationIp'], data['srcip']].find((value) => typeof value === 'string');
  if (found === undefined) throw new UnusableInputError("Cannot read 'srcip' from data");
  const address = found.replace(/^::ffff:(?=\d+\.)/i, '');
  // A zone (`fe80::1%eth0`) belongs to an address of this host's links and to no rule.
  if (isIP(address) !== 0 && !address.includes('%')) return address.toLowerCase();
  throw new UnusableInputError("Cannot read 'srcip' from data or invalid IP format");
}
