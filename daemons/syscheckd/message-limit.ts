import { MAX_PAYLOAD_BYTES } from '../../lib/agentlink/link-limits.js';

/** Longest message of file integrity, in bytes: what the wire takes, without queue and location (`5:fim_registry_value:`). */
export const MAX_FIM_MESSAGE_BYTES = MAX_PAYLOAD_BYTES - 32;
