import type { AgentKnowledge } from '../../agents/agent-knowledge.js';
import type { EngineEvent } from '../../event.js';
import {
  addField,
  type Identities,
  type InternalDecoder,
  type InternalOutcome,
  setDecoder,
} from './internal-decoder.js';

const AUDIT_PREFIX = 'System Audit: ';

/** Results of rootcheck (queue `9`; integrity-and-inventory.md 9.4). */
export class RootcheckDecoder implements InternalDecoder {
  readonly #identities: Identities;
  readonly #memory: AgentKnowledge;

  constructor(identities: Identities, memory: AgentKnowledge) {
    this.#identities = identities;
    this.#memory = memory;
  }

  decode(event: EngineEvent): InternalOutcome {
    const text = event.log;
    event.firstSeen = this.#memory.addRootcheck(event.agentId, text);
    setDecoder(event, this.#identities('rootcheck'));
    addField(event, 'title', titleOf(text));
    addField(event, 'file', fileOf(text));
    return 'rules';
  }
}

/** What was found: without its prefix, its tags, what comes behind its first sentence, and the file's name. */
function titleOf(text: string): string {
  let title = text.startsWith(AUDIT_PREFIX) ? text.slice(AUDIT_PREFIX.length) : text;
  const tags = title.indexOf(' {');
  if (tags >= 0) {
    title = title.slice(0, tags);
  }
  const sentence = title.indexOf('. ');
  if (sentence >= 0) {
    title = title.slice(0, sentence + 1);
  }
  return withoutQuoted(title);
}

/** Without the text in quotes behind the first `file`, where it ends. */
function withoutQuoted(title: string): string {
  const quoted = /[Ff]ile '/.exec(title);
  if (quoted === null) return title;
  const start = quoted.index + quoted[0].length;
  const end = title.indexOf("' ", start);
  return end < 0 ? title : title.slice(0, start - 1) + title.slice(end + 2);
}

function fileOf(text: string): string | undefined {
  const named = text.indexOf('File: ');
  if (named >= 0) {
    const start = named + 6;
    const end = text.indexOf('. ', start);
    return end >= 0 ? text.slice(start, end) : text.slice(start).replace(/\.$/, '');
  }
  const quoted = /[Ff]ile '/.exec(text);
  if (quoted === null) {
    return undefined;
  }
  const start = quoted.index + 6;
  const end = text.indexOf("' ", start);
  return end < 0 ? undefined : text.slice(start, end);
}
