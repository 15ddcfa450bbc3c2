import type { FimChangeKind } from '../../../events/fim/fim-names.js';
import type { InternalDecoderName } from '../../load/internal-decoder-names.js';

/** What a file integrity event is about. */
export type FimKind = 'file' | 'registry_key' | 'registry_value';

/** Names of the decoders by which rules tell file integrity events apart (integrity-and-inventory.md 6.2). */
export const FIM_DECODERS: Readonly<Record<FimKind, Readonly<Record<FimChangeKind, InternalDecoderName>>>> = {
  file: {
    added: 'syscheck_new_entry',
    modified: 'syscheck_integrity_changed',
    deleted: 'syscheck_deleted',
  },
  registry_key: {
    added: 'syscheck_registry_key_added',
    modified: 'syscheck_registry_key_modified',
    deleted: 'syscheck_registry_key_deleted',
  },
  registry_value: {
    added: 'syscheck_registry_value_added',
    modified: 'syscheck_registry_value_modified',
    deleted: 'syscheck_registry_value_deleted',
  },
};
