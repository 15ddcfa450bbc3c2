import type { Diagnostics, EngineEvent } from '../event.js';
import type { AgentMemory } from './agent-memory.js';
import type { InternalDecoderName } from '../internal-decoder-names.js';
import { addField, setDecoder } from './internal-decoder.js';
import type { AgentEffects, Identities, InternalDecoder, InternalOutcome } from './internal-decoder.js';
import { legacyFimLog } from './legacy-fim-log.js';
import { isSameSum, readLegacyFim, readLegacySum, type LegacyFim, type LegacySum } from './legacy-fim.js';

const DECODERS = {
  added: 'syscheck_new_entry',
  modified: 'syscheck_integrity_changed',
  deleted: 'syscheck_deleted',
} as const satisfies Readonly<Record<string, InternalDecoderName>>;

/** Columns as fields of rules, and as `changed_attributes` names them. */
const COLUMNS = [
  ['size', 'size'],
  ['perm', 'permission'],
  ['uid', 'uid'],
  ['gid', 'gid'],
  ['md5', 'md5'],
  ['sha1', 'sha1'],
  ['uname', 'user_name'],
  ['gname', 'group_name'],
  ['mtime', 'mtime'],
  ['inode', 'inode'],
  ['sha256', 'sha256'],
  ['win_attributes', 'attributes'],
] as const;

const MODE = 'scheduled';

type Entry = Extract<LegacyFim, { kind: 'entry' }>;

/**
 * File integrity events in the text form of agents before 3.11 (queue `8`; integrity-and-inventory.md 4.5). They tell how a
 * file is, not what has changed: the engine remembers how it was.
 */
export class LegacyFimDecoder implements InternalDecoder {
  readonly #identities: Identities;
  readonly #memory: AgentMemory;
  readonly #effects: AgentEffects;
  readonly #diagnostics: Diagnostics;

  constructor(identities: Identities, memory: AgentMemory, effects: AgentEffects, diagnostics: Diagnostics) {
    this.#identities = identities;
    this.#memory = memory;
    this.#effects = effects;
    this.#diagnostics = diagnostics;
  }

  decode(event: EngineEvent): InternalOutcome {
    const { agentId } = event;
    const message = readLegacyFim(event.log);
    if (message === undefined) {
      this.#diagnostics.error(`Invalid FIM event of agent '${agentId}': neither JSON nor the text of older agents`);
      return 'done';
    }
    if (message.kind === 'scan') {
      const seconds = String(Math.floor(event.receivedAt / 1000));
      this.#effects.database(agentId, `syscheck scan_info_update ${message.mark}_scan ${seconds}`);
      if (message.mark === 'end') this.#memory.setScanned(agentId);
      return 'done';
    }
    return this.#decodeEntry(event, message);
  }

  #decodeEntry(event: EngineEvent, entry: Entry): InternalOutcome {
    const { agentId } = event;
    const { path, sum } = entry;
    const known = this.#memory.file(agentId, path);
    if (sum === undefined) {
      this.#memory.deleteFile(agentId, path);
      this.#effects.database(agentId, `syscheck delete ${path}`);
      return this.#tell(event, entry, 'deleted', {}, known === undefined ? {} : readLegacySum(known));
    }
    if (known !== undefined && isSameSum(known, sum)) {
      this.#effects.database(agentId, `syscheck updatedate ${path}`);
      return 'done';
    }
    this.#memory.setFile(agentId, path, sum);
    this.#effects.database(agentId, `syscheck save file ${sum} ${path}`);
    if (known !== undefined) return this.#tell(event, entry, 'modified', readLegacySum(known), readLegacySum(sum));
    // Until a scan has ended, the agent tells what is there from the beginning.
    return this.#memory.hasScanned(agentId) ? this.#tell(event, entry, 'added', {}, readLegacySum(sum)) : 'done';
  }

  #tell(
    event: EngineEvent,
    { path, extra, diff }: Entry,
    change: keyof typeof DECODERS,
    before: LegacySum,
    after: LegacySum,
  ): InternalOutcome {
    if (extra.silent === '+') return 'done';
    setDecoder(event, this.#identities(DECODERS[change]));
    addField(event, 'file', path);
    addField(event, 'mode', MODE);
    const changed: string[] = [];
    for (const [field, name] of COLUMNS) {
      addField(event, field, after[field]);
      addField(event, `${field}_before`, before[field]);
      if (change === 'modified' && before[field] !== undefined && before[field] !== after[field]) changed.push(name);
    }
    addField(event, 'changed_content', diff === '' ? undefined : diff);
    addField(event, 'changed_fields', changed.length === 0 ? undefined : changed.join(','));
    for (const [name, value] of Object.entries(extra)) {
      if (name !== 'silent' && !(name === 'ppid' && value === '-')) addField(event, name, value);
    }
    addField(event, 'entry_type', 'file');
    addField(event, 'event_type', change);
    event.fullLog = legacyFimLog(path, change, before, after);
    event.log = event.fullLog;
    return 'rules';
  }
}
