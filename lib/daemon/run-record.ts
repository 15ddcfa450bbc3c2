import * as z from 'zod';
import { readRunFile, type WriterCheck } from '../files/read-run-file.js';
import { writeFileAtomically } from '../files/write-file-atomically.js';

const address = z.object({
  protocol: z.enum(['tcp', 'udp', 'https', 'ipc']),
  address: z.string(),
  port: z.int().min(0).max(65535).optional(),
});

const schema = z.object({
  daemon: z.string(),
  pid: z.int().min(1),
  /** See ProcessIdentity. */
  startTime: z.string(),
  /** Time of day when the daemon was ready, epoch milliseconds. */
  startedAt: z.number(),
  /** The product's own version. */
  version: z.string(),
  /** Every listener by its name, with the port really bound. */
  addresses: z.record(z.string(), address),
  /** What the operator must mend. */
  problem: z.string().optional(),
  /** Outcome of the last reload; `count` is 1 for the first after the start. */
  reload: z
    .object({
      count: z.int().min(1),
      at: z.number(),
      error: z.string().optional(),
      restartNeeded: z.array(z.string()),
    })
    .optional(),
});

/** Content of `var/run/<daemon>.json`. */
export type RunRecord = z.infer<typeof schema>;

/** Others of the home's group read it: it holds no secret. */
const RECORD_MODE = 0o640;

/** Puts the record in place. @throws the file system's error */
export function writeRunRecord(path: string, record: RunRecord): void {
  writeFileAtomically(path, `${JSON.stringify(record)}\n`, { mode: RECORD_MODE });
}

/**
 * The record, undefined when there is none that can be read.
 * @param believed for whoever acts on it: who may have written it; without, it is only shown to people
 */
export function readRunRecord(path: string, believed: WriterCheck = () => true): RunRecord | undefined {
  try {
    const { text, writer } = readRunFile(path);
    const result = schema.safeParse(JSON.parse(text));
    return result.success && believed(writer, result.data.pid) ? result.data : undefined;
  } catch {
    return undefined;
  }
}
