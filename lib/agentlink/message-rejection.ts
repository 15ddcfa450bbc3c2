import type { CounterPair } from './message-counters.js';

/** Why a message was not opened, with the log code where the reference has one (agents-and-groups.md 3.5). */
export type RejectionReason =
  /** Nothing after the prefix. */
  | 'empty'
  /** 1403: no closed prefix, no known mark, or no counters where they belong. */
  | 'malformed'
  /** 1404: the ciphertext was not made with this key. */
  | 'wrong_key'
  /** 2202: what was decrypted does not inflate, or inflates to more than a message may have. */
  | 'not_inflated'
  | 'too_short'
  /** 1406 */
  | 'checksum_mismatch';

export type Rejection = { readonly ok: false; readonly reason: RejectionReason };

/** What the log says of a rejected message: made once a reason, nothing of the message in it. */
export type RejectionText = { readonly level: 'warning' | 'error'; readonly text: string };

const rejections = new Map<RejectionReason, Rejection>();

/** The rejection for a reason; nothing is allocated, as hostile peers may cause many. */
export function rejection(reason: RejectionReason): Rejection {
  let found = rejections.get(reason);
  if (found === undefined) {
    found = { ok: false, reason };
    rejections.set(reason, found);
  }
  return found;
}

/**
 * Log line of a rejection, as in 3.5.
 * @param id id of the agent, or `(unknown)`
 * @param host address of the peer
 */
export function rejectionText(reason: RejectionReason, id: string, host: string): RejectionText {
  const from = `Message received from agent '${id}' at '${host}'.`;
  switch (reason) {
    case 'empty':
      return { level: 'warning', text: 'Received message is empty' };
    case 'malformed':
      return { level: 'error', text: `(1403): Incorrectly formatted message from agent '${id}' (host '${host}').` };
    case 'wrong_key':
      return { level: 'warning', text: `(1404): Authentication error. Wrong key or corrupt payload. ${from}` };
    case 'not_inflated':
      return { level: 'warning', text: `(2202): Error uncompressing string. ${from}` };
    case 'too_short':
      return { level: 'warning', text: `Decompressed message too short from agent '${id}'` };
    case 'checksum_mismatch':
      return { level: 'error', text: `(1406): Checksum mismatch. ${from}` };
  }
}

/**
 * Log lines of a message whose counters were used before, or are older than the last ones (3.4, 1407). The key is right:
 * counters that begin again are those of an agent that was installed anew or restored, or of an old message.
 */
export function counterTexts(
  { name, id }: { readonly name: string; readonly id: string },
  verdict: 'duplicate' | 'older',
  received: CounterPair,
  saved: CounterPair,
): readonly RejectionText[] {
  const counters = `global: ${received.global}, local: ${received.local}`;
  const hint =
    verdict === 'older'
      ? ` Its counters are older than those it had: if it was set up again, stop svc-remoted, delete queue/rids/${id} and start it.`
      : '';
  return [
    // Both the two spaces and the missing one are the reference's.
    {
      level: 'warning',
      text: `Duplicate error:  ${counters}, saved global: ${saved.global}, saved local:${saved.local}`,
    },
    { level: 'error', text: `(1407): Duplicated counter for '${name}'.${hint}` },
  ];
}
