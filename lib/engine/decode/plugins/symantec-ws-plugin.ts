import type { EngineEvent } from '../../event.js';
import type { Plugin } from './plugin.js';

const MAX_USER = 128;
const MAX_ADDRESS = 128;
const MAX_URL = 1024;
/** An id is this many bytes, its prefix among them, whatever they are. */
const ID_LENGTH = 9;

/** `SymantecWS_Decoder`: comma lists of Symantec Web Security (decoding.md 4.8); each member is set once. */
export class SymantecWsPlugin implements Plugin {
  decode(event: EngineEvent): void {
    const log = event.log;
    let user = false;
    let address = false;
    let url = false;
    let id = false;
    for (let comma = log.indexOf(','); comma >= 0; comma = log.indexOf(',', comma + 1)) {
      const at = comma + 1;
      if (!user && log.startsWith('10=', at)) {
        event.dstuser = valueAt(log, at + 3, MAX_USER);
        user = true;
      } else if (!address && log.startsWith('11=', at)) {
        event.srcip = valueAt(log, at + 3, MAX_ADDRESS);
        address = true;
      } else if (!url && log.startsWith('60=', at)) {
        event.url = valueAt(log, at + 3, MAX_URL);
        url = true;
      } else if (!id && (log.startsWith('3=', at) || log.startsWith('2=', at))) {
        event.id = log.slice(at, at + ID_LENGTH);
        id = true;
      }
    }
  }
}

function valueAt(log: string, start: number, most: number): string {
  const comma = log.indexOf(',', start);
  return log.slice(start, Math.min(comma < 0 ? log.length : comma, start + most));
}
