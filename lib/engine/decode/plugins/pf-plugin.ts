import type { EngineEvent } from '../../event.js';
import type { Plugin } from './plugin.js';

/** `PF_Decoder`: lines of the OpenBSD packet filter (decoding.md 4.8). What was read before a line breaks off stays. */
export class PfPlugin implements Plugin {
  decode(event: EngineEvent): void {
    const log = event.log;
    const action = log.indexOf(')') + 1;
    if (action === 0 || log.charAt(action) !== ' ') {
      return;
    }
    const letter = log.charAt(action + 1);
    if (letter !== 'p' && letter !== 'b') {
      return;
    }
    event.action = letter === 'p' ? 'pass' : 'block';
    const colon = log.indexOf(':', action + 1);
    if (colon < 0 || log.charAt(colon + 1) !== ' ') {
      return;
    }
    const source = colon + 2;
    const sourceEnd = log.indexOf(' ', source);
    if (sourceEnd < 0) {
      return;
    }
    const [srcip, srcport] = splitPort(log.slice(source, sourceEnd));
    event.srcip = srcip;
    event.srcport = srcport ?? event.srcport;
    if (!log.startsWith('> ', sourceEnd + 1)) {
      return;
    }
    const target = sourceEnd + 3;
    const targetEnd = log.indexOf(':', target);
    if (targetEnd < 0) {
      return;
    }
    const [dstip, dstport] = splitPort(log.slice(target, targetEnd));
    event.dstip = dstip;
    event.dstport = dstport ?? event.dstport;
    let protocol = targetEnd + 1;
    while (log.charAt(protocol) === ' ') {
      protocol += 1;
    }
    const first = log.charAt(protocol);
    event.protocol = first === 'u' ? 'UDP' : first === 'i' ? 'ICMP' : 'TCP';
  }
}

/** What follows the fourth dot is the port. */
function splitPort(text: string): [string, string | undefined] {
  let dot = -1;
  for (let count = 0; count < 4; count += 1) {
    dot = text.indexOf('.', dot + 1);
    if (dot < 0) {
      return [text, undefined];
    }
  }
  return [text.slice(0, dot), text.slice(dot + 1)];
}
