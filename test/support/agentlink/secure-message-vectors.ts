import { AgentKey } from '../../../lib/agentlink/agent-key.js';
import { AgentAddress } from '../../../lib/network/agent-address.js';
import { readVectors } from '../read-vectors.js';

/** A sealed message of the vectors. */
export type MessageVector = {
  readonly name: string;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly agent_ip?: string;
  readonly raw_key: string;
  readonly wire_hex: string;
};

export type ValidVector = MessageVector & {
  readonly cipher: 'aes' | 'blowfish';
  readonly sender: 'agent' | 'manager';
  readonly random: number;
  readonly global_counter: number;
  readonly local_counter: number;
  readonly sender_counter_file_after: string;
  /** Null for the long one, which `message_rule` describes. */
  readonly message_utf8: string | null;
  readonly message_length: number;
  readonly message_sha256: string;
  readonly clear_prefix: string;
  readonly zlib_hex?: string;
  readonly wire_length: number;
  readonly tcp_frame_header_hex: string;
};

export type RejectedVector = MessageVector & { readonly expected: string };

export type SecureMessageVectors = {
  readonly key_derivation: readonly Record<string, string>[];
  readonly group_hash: readonly { readonly groups_csv: string; readonly hash: string }[];
  readonly plain: readonly Record<string, string>[];
  readonly messages: readonly ValidVector[];
  readonly rejected: readonly RejectedVector[];
  readonly merged_files: readonly {
    readonly name: string;
    readonly merged_text: string;
    readonly length: number;
    readonly md5: string;
  }[];
  readonly uname_lines: readonly {
    readonly line: string;
    readonly expected: { os: Record<string, string>; version: string; config_sum: string | null };
  }[];
};

/** The vectors of the secure channel. */
export function secureMessageVectors(): SecureMessageVectors {
  return readVectors('secure-message-vectors.json');
}

/** The key of a vector's agent. */
export function keyOf(vector: MessageVector): AgentKey {
  return new AgentKey(
    vector.agent_id,
    vector.agent_name,
    AgentAddress.parse(vector.agent_ip ?? 'any') ?? AgentAddress.any,
    vector.raw_key,
  );
}
