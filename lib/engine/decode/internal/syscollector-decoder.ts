import type { Diagnostics, EngineEvent } from '../../event.js';
import { objectMember, scalarText, stringMember } from '../json/json-values.js';
import { type JsonObject, parseJsonObject } from '../json/parse-json.js';
import {
  addField,
  type Identities,
  type InternalDecoder,
  type InternalOutcome,
  setDecoder,
} from './internal-decoder.js';
import { INVENTORY_FIELDS } from './inventory-columns.js';

const PREFIX = 'dbsync_';

/** Changes of the inventory (queue `d`; integrity-and-inventory.md 11.2, decoding.md 4.13). */
export class SyscollectorDecoder implements InternalDecoder {
  readonly #identities: Identities;
  readonly #diagnostics: Diagnostics;

  constructor(identities: Identities, diagnostics: Diagnostics) {
    this.#identities = identities;
    this.#diagnostics = diagnostics;
  }

  decode(event: EngineEvent): InternalOutcome {
    if (event.location.slice(event.location.lastIndexOf('>') + 1) !== 'syscollector') {
      this.#diagnostics.debug(`Invalid received event: inventory with location '${event.location}'.`);
      return 'done';
    }
    const message = parseJsonObject(event.log);
    const type = message && stringMember(message, 'type');
    if (message === undefined || type === undefined) {
      this.#diagnostics.error('Malformed inventory event.');
      return 'done';
    }
    const name = type.startsWith(PREFIX) ? type.slice(PREFIX.length) : '';
    const table = INVENTORY_FIELDS.get(name);
    if (table === undefined) {
      // Messages of agents before 4.2, or of a table that is not known.
      this.#diagnostics.debug(`Inventory message of type '${type}' is not used.`);
      return 'done';
    }
    const operation = stringMember(message, 'operation');
    const row = objectMember(message, 'data');
    if (operation === undefined || row === undefined) {
      this.#diagnostics.error('Malformed inventory event.');
      return 'done';
    }
    const data = name === 'network_address' ? withProtocolName(row) : row;
    setDecoder(event, this.#identities('syscollector'));
    addField(event, 'type', type);
    addField(event, 'operation_type', operation);
    for (const [column, field] of table.columns) {
      addField(event, field, scalarText(data.get(column)) ?? '');
    }
    return 'rules';
  }
}

/** Agents send the protocol of an address as a number. */
function withProtocolName(row: JsonObject): JsonObject {
  const proto = row.get('proto');
  return typeof proto === 'number' ? new Map([...row, ['proto', proto === 0 ? 'ipv4' : 'ipv6']]) : row;
}
