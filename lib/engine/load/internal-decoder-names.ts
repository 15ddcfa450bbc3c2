/** Names of the decoders that are not written in XML; rules may always name them in `decoded_as` (decoding.md 4.11). */
export const INTERNAL_DECODER_NAMES = [
  'rootcheck',
  'syscheck_integrity_changed',
  'syscheck_new_entry',
  'syscheck_deleted',
  'syscheck_registry_key_modified',
  'syscheck_registry_key_added',
  'syscheck_registry_key_deleted',
  'syscheck_registry_value_modified',
  'syscheck_registry_value_added',
  'syscheck_registry_value_deleted',
  'hostinfo_new',
  'hostinfo_modified',
  'syscollector',
  'ciscat',
  'windows_eventchannel',
  'sca',
] as const;
export type InternalDecoderName = (typeof INTERNAL_DECODER_NAMES)[number];
