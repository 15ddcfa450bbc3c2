import { isObject } from '../../../lib/json/is-object.js';

type Alert = Readonly<Record<string, unknown>>;

/** Members that programs hardly need, the longest first. */
const DISPENSABLE = ['previous_output', 'previous_log', 'full_log', 'syscheck', 'predecoder'];
/** Members of `data` by which programs know whom to act against (daemons-and-config.md 5.4). */
const KEYS = ['srcip', 'dstip', 'srcuser', 'dstuser'];
const KEPT = ['timestamp', 'rule', 'agent', 'manager', 'id', 'location'];

/**
 * Makes an alert fit into a message: programs that are sent half of one could do nothing with it.
 * @param maxBytes of its JSON
 */
export function fitAlert(alert: Alert, maxBytes: number): Alert {
  const fits = (candidate: Alert): boolean => Buffer.byteLength(JSON.stringify(candidate)) <= maxBytes;
  let shorter = alert;
  for (const name of DISPENSABLE) {
    if (fits(shorter)) return shorter;
    shorter = Object.fromEntries(Object.entries(shorter).filter(([member]) => member !== name));
  }
  if (fits(shorter)) return shorter;
  const essential = { ...pick(alert, KEPT), data: essentialData(alert['data']) };
  return fits(essential) ? essential : { ...pick(alert, ['timestamp', 'id']), data: {} };
}

function essentialData(data: unknown): Alert {
  if (!isObject(data)) return {};
  const { win } = data;
  const eventdata = isObject(win) && isObject(win['eventdata']) ? win['eventdata'] : {};
  const addresses = pick(eventdata, ['ipAddress', 'destinationIp']);
  const kept = pick(data, KEYS);
  return Object.keys(addresses).length === 0 ? kept : { ...kept, win: { eventdata: addresses } };
}

function pick(from: Alert, names: readonly string[]): Alert {
  return Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]));
}
