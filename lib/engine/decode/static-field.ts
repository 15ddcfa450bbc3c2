import type { EngineEvent, StaticField } from '../event.js';

const BY_ORDER_WORD: ReadonlyMap<string, StaticField> = new Map([
  ['user', 'dstuser'],
  ['dstuser', 'dstuser'],
  ['srcuser', 'srcuser'],
  ['srcip', 'srcip'],
  ['dstip', 'dstip'],
  ['srcport', 'srcport'],
  ['dstport', 'dstport'],
  ['protocol', 'protocol'],
  ['action', 'action'],
  ['id', 'id'],
  ['url', 'url'],
  ['data', 'data'],
  ['extra_data', 'extra_data'],
  ['status', 'status'],
  ['system_name', 'system_name'],
]);

/** The static member that a word of a decoder's `order` means (case-sensitive), or undefined for a dynamic field (decoding.md 4.6). */
export function staticFieldOf(orderWord: string): StaticField | undefined {
  return BY_ORDER_WORD.get(orderWord);
}

/** Sets a static member; a switch, because stores through a computed name are several times slower. */
export function setStaticField(event: EngineEvent, field: StaticField, value: string): void {
  switch (field) {
    case 'protocol':
      event.protocol = value;
      break;
    case 'action':
      event.action = value;
      break;
    case 'srcip':
      event.srcip = value;
      break;
    case 'srcport':
      event.srcport = value;
      break;
    case 'srcuser':
      event.srcuser = value;
      break;
    case 'dstip':
      event.dstip = value;
      break;
    case 'dstport':
      event.dstport = value;
      break;
    case 'dstuser':
      event.dstuser = value;
      break;
    case 'id':
      event.id = value;
      break;
    case 'status':
      event.status = value;
      break;
    case 'url':
      event.url = value;
      break;
    case 'data':
      event.data = value;
      break;
    case 'extra_data':
      event.extra_data = value;
      break;
    case 'system_name':
      event.system_name = value;
      break;
  }
}
