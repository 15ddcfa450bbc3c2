import type { AgentKnowledge } from '../../agents/agent-knowledge.js';
import type { EngineEvent } from '../../event.js';
import { type Identities, type InternalDecoder, type InternalOutcome, setDecoder } from './internal-decoder.js';

const HOST = /^Host: (\S+) \(([^)]*)\), ([^]*)$/;

/** Host information of port scans (queue `3`; decoding.md 4.11): an event only for a new host or one that changed. */
export class HostinfoDecoder implements InternalDecoder {
  readonly #identities: Identities;
  readonly #memory: AgentKnowledge;

  constructor(identities: Identities, memory: AgentKnowledge) {
    this.#identities = identities;
    this.#memory = memory;
  }

  decode(event: EngineEvent): InternalOutcome {
    const [, ip, , information] = HOST.exec(event.log) ?? [];
    if (ip === undefined || information === undefined) {
      return 'done';
    }
    const known = this.#memory.host(ip);
    if (known === information) {
      return 'done';
    }
    this.#memory.setHost(ip, information);
    setDecoder(event, this.#identities(known === undefined ? 'hostinfo_new' : 'hostinfo_modified'));
    return 'rules';
  }
}
