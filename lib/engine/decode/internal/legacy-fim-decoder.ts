import type { FimChangeKind } from '../../../events/fim/fim-names.js';
import {
  isSameSum,
  type LegacyFim,
  type LegacySum,
  readLegacyFim,
  readLegacySum,
  readRegistryKey,
  tellsMore,
} from '../../../events/fim/legacy-fim.js';
import type { AgentKnowledge } from '../../agents/agent-knowledge.js';
import type { Diagnostics, EngineEvent } from '../../event.js';
import { FIM_DECODERS } from './fim-decoder-names.js';
import {
  addField,
  type Identities,
  type InternalDecoder,
  type InternalOutcome,
  setDecoder,
} from './internal-decoder.js';
import { legacyFimLog } from './legacy-fim-log.js';

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
/** Remembered of a file that is known to be gone, in the words of the agents. */
const GONE = '-1';

type LegacyEntry = Extract<LegacyFim, { kind: 'entry' }>;

/**
 * File integrity events in the text form of agents before 3.11 (queue `8`; integrity-and-inventory.md 4.5). They tell how a
 * file is, not what has changed: the engine remembers how it was.
 */
export class LegacyFimDecoder implements InternalDecoder {
  readonly #identities: Identities;
  readonly #memory: AgentKnowledge;
  readonly #diagnostics: Diagnostics;

  constructor(identities: Identities, memory: AgentKnowledge, diagnostics: Diagnostics) {
    this.#identities = identities;
    this.#memory = memory;
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
      if (message.mark === 'end') this.#memory.setScanned(agentId);
      return 'done';
    }
    return this.#decodeEntry(event, message);
  }

  #decodeEntry(event: EngineEvent, entry: LegacyEntry): InternalOutcome {
    const { agentId } = event;
    const { path, sum } = entry;
    const stored = this.#memory.file(agentId, path);
    if (sum === undefined) return this.#decodeDeletion(event, entry, stored);
    const known = stored === GONE ? undefined : stored;
    if (known !== undefined && isSameSum(known, sum)) {
      if (tellsMore(sum, known)) this.#memory.setFile(agentId, path, sum);
      return 'done';
    }
    this.#memory.setFile(agentId, path, sum);
    if (known !== undefined) return this.#tell(event, entry, 'modified', readLegacySum(known), readLegacySum(sum));
    // Until a scan has ended, the agent tells what is there from the beginning.
    return this.#memory.hasScanned(agentId) ? this.#tell(event, entry, 'added', {}, readLegacySum(sum)) : 'done';
  }

  /** OSSEC-HIDS agents tell it again whenever they look: nothing has happened to a file that was not there. */
  #decodeDeletion(event: EngineEvent, entry: LegacyEntry, stored: string | undefined): InternalOutcome {
    const { agentId } = event;
    const { path } = entry;
    if (stored === GONE) return 'done';
    if (stored !== undefined) {
      this.#memory.deleteFile(agentId, path);
    } else {
      if (!this.#memory.isFullOfFiles(agentId)) return 'done';
      // It may have been there, and forgotten to make room for others: that is told, once.
      this.#memory.setFile(agentId, path, GONE);
    }
    return this.#tell(event, entry, 'deleted', {}, stored === undefined ? {} : readLegacySum(stored));
  }

  #tell(
    event: EngineEvent,
    { path, extra, diff }: LegacyEntry,
    change: FimChangeKind,
    before: LegacySum,
    after: LegacySum,
  ): InternalOutcome {
    if (extra.silent === '+') return 'done';
    const kind = readRegistryKey(path) === undefined ? 'file' : 'registry_key';
    setDecoder(event, this.#identities(FIM_DECODERS[kind][change]));
    addField(event, 'file', path);
    addField(event, 'mode', MODE);
    const changed: string[] = [];
    for (const [field, name] of COLUMNS) {
      const now = after[field];
      const old = before[field];
      addField(event, field, now);
      // A sum that is switched off now is not told, and has not changed.
      if (now === undefined || old === undefined) continue;
      addField(event, `${field}_before`, old);
      if (old !== now) changed.push(name);
    }
    addField(event, 'changed_content', diff === '' ? undefined : diff);
    addField(event, 'changed_fields', changed.length === 0 ? undefined : changed.join(','));
    for (const [name, value] of Object.entries(extra)) {
      if (name !== 'silent' && !(name === 'ppid' && value === '-')) addField(event, name, value);
    }
    addField(event, 'entry_type', kind);
    addField(event, 'event_type', change);
    event.fullLog = legacyFimLog(path, change, before, after);
    event.log = event.fullLog;
    return 'rules';
  }
}
