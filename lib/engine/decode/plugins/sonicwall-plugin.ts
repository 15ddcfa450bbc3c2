import type { MatchContext, Matcher } from '../../../patterns/matcher.js';
import type { Category, EngineEvent } from '../../event.js';
import type { PatternCompiler } from '../../load/pattern-compiler.js';
import type { Decoder } from '../decoder-set.js';
import type { Plugin, PluginOffsets } from './plugin.js';

const MAX_CATEGORY = 7;
const MAX_PROTOCOL = 6;

/** Message ids whose meaning is fixed. */
const ACTIONS: ReadonlyMap<string, readonly [Category, string]> = new Map<string, readonly [Category, string]>([
  ['98', ['firewall', 'pass']],
  ['597', ['firewall', 'pass']],
  ['598', ['firewall', 'pass']],
  ['38', ['firewall', 'drop']],
  ['36', ['firewall', 'drop']],
  ['173', ['firewall', 'drop']],
  ['174', ['firewall', 'drop']],
  ['37', ['firewall', 'drop']],
  ['537', ['firewall', 'close']],
]);

/** `SonicWall_Decoder`: firewall lines, whose category depends on the message (decoding.md 4.8). */
export class SonicwallPlugin implements Plugin {
  readonly #head: Matcher;
  readonly #addresses: Matcher;
  readonly #page: Matcher;

  constructor(compilePattern: PatternCompiler) {
    this.#head = compilePattern('osregex', 'pri=(\\d) c=(\\d+) m=(\\d+) ');
    this.#addresses = compilePattern(
      'osregex',
      'src=(\\d+.\\d+.\\d+.\\d+):(\\d+):\\S+ dst=(\\d+.\\d+.\\d+.\\d+):(\\d+):',
    );
    this.#page = compilePattern('osregex', 'result=(\\d+) dstname=(\\S+) arg=(\\S+)$');
  }

  decode(event: EngineEvent, _decoder: Decoder, _offsets: PluginOffsets, context: MatchContext): void {
    event.category = 'syslog';
    const { log } = event;
    if (!this.#head.exec(log, context) || context.captureCount < 3) {
      return;
    }
    const [status, category = '', id] = context.captures;
    event.status = status;
    event.id = id;
    const headEnd = Math.max(context.end, 0);
    if (!this.#addresses.exec(log.slice(headEnd), context) || context.captureCount < 4) {
      return;
    }
    [event.srcip, event.srcport, event.dstip, event.dstport] = context.captures;
    const space = log.indexOf(' ', headEnd + context.end);
    if (space >= 0 && log.startsWith('proto=', space + 1)) {
      const rest = log.slice(space + 7, space + 7 + MAX_PROTOCOL);
      const slash = rest.indexOf('/');
      event.protocol = slash < 0 ? rest : rest.slice(0, slash);
    }
    this.#classify(event, category.slice(0, MAX_CATEGORY), context);
  }

  #classify(event: EngineEvent, category: string, context: MatchContext): void {
    if (category === '32') {
      event.category = 'ids';
      return;
    }
    const action = ACTIONS.get(event.id ?? '');
    if (action !== undefined) {
      [event.category, event.action] = action;
    } else if (event.id === '97') {
      event.category = 'squid';
      if (this.#page.exec(event.log, context) && context.captureCount >= 3) {
        const [result, name = '', argument = ''] = context.captures;
        event.id = result;
        event.url = name + argument;
      }
    }
  }
}
