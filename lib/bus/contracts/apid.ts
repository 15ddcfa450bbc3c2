import * as z from 'zod';
import { backupSummary, restoreReport } from '../../security/security-backup.js';
import { defineContract } from '../contract.js';
import { MAX_ASK_MS } from './clusterd.js';
import { commonMethods } from './common.js';

/** Bytes of an answer that come in one piece: what is longer is fetched with `api.rest`, so that no message is too large. */
export const MAX_ANSWER_PIECE = 4 * 1024 * 1024;
/** Bytes of a body that is sent on, packed: uploads of configurations have some kilobytes. */
const MAX_BODY_BYTES = 12 * 1024 * 1024;
/** Policies of one caller, and what each may list: stops a node that sends what no role can have. */
const MAX_POLICIES = 10_000;
const MAX_POLICY_LIST = 100_000;

/** A backup, compressed with gzip: uncompressed it might be larger than a message. */
const gzip = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'is no bytes');
const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'is no bytes');
const texts = z.array(z.string().max(4096)).max(MAX_POLICY_LIST);

/** Bytes, compressed with gzip where that is worth it. */
const packed = z.object({ gzip: z.boolean(), bytes });
export type PackedBytes = z.output<typeof packed>;

/** The first piece of an answer; `rest` names what is to be fetched behind it. */
const pieces = z.object({
  gzip: z.boolean(),
  bytes,
  /** Bytes of all pieces. */
  total: z.number().int().min(0),
  rest: z.string().nullable(),
});
export type AnswerPieces = z.output<typeof pieces>;

/** What an operation answered: as a client gets it, the list that it is made of, or a refusal. */
const relayedAnswer = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('sent'),
    status: z.number().int(),
    contentType: z.string(),
    etag: z.string().optional(),
    body: pieces,
  }),
  /** `list` is JSON: items, total, failed, messages, status, and keys where they were asked for. */
  z.object({ kind: z.literal('list'), list: pieces }),
  z.object({
    kind: z.literal('refused'),
    status: z.number().int().min(400).max(599),
    members: z.record(z.string(), z.unknown()),
    headers: z.record(z.string(), z.string()),
  }),
]);
export type RelayedAnswer = z.output<typeof relayedAnswer>;

/** What svc-apid answers on the bus; its section `api` is the effective api.yaml. */
export const apidContract = defineContract('svc-apid', {
  ...commonMethods,
  /** Users, roles, policies, security rules and security settings in one file, as they are on the disk. */
  'security.backup': { params: z.object({}), result: z.object({ gzip, summary: backupSummary }) },
  /** Puts back what a backup has, and ends all tokens. Error `bad_backup`: nothing was changed. */
  'security.restore': { params: z.object({ gzip }), result: restoreReport },

  /**
   * Runs an operation of the contract for a caller who asked another node of the cluster, by what his policies say; it is
   * answered here and handed on to nobody. Only operations that nodes have to ask each other for (`x-cluster`). Errors:
   * `not_relayed`, `bad_params`.
   */
  'api.run': {
    params: z.object({
      /** By its id in the contract. */
      operation: z.string().min(1).max(128),
      /** As the contract has them, defaults filled in. */
      parameters: z.record(z.string().max(128), z.unknown()),
      body: packed.refine((value) => value.bytes.length <= MAX_BODY_BYTES, 'is too large').optional(),
      caller: z.object({
        /** For the log. */
        name: z.string().max(256),
        mode: z.enum(['white', 'black']),
        policies: z
          .array(z.object({ actions: texts, resources: texts, effect: z.enum(['allow', 'deny']) }))
          .max(MAX_POLICIES),
      }),
      /** Ids of the agents that are this node's to answer for, four bytes each, of those that the request is about. */
      agents: bytes.optional(),
      rows: z.enum(['whole', 'keys']).optional(),
      form: z.enum(['sent', 'list']),
      /** Time that the operation has, milliseconds. */
      limitMs: z.number().int().min(1).max(MAX_ASK_MS),
      /** Node that asks, for the log. */
      from: z.string().max(128),
    }),
    result: relayedAnswer,
  },
  /** The piece of an answer behind its first `at` bytes. Error `gone`: nobody fetched it for too long. */
  'api.rest': {
    params: z.object({ rest: z.string().max(64), at: z.number().int().min(0) }),
    result: z.object({ bytes }),
  },
});
