import { hash } from 'node:crypto';
import { Packr } from 'msgpackr';
import { StoreError } from '../../../lib/store/store-error.js';

/** How a check went. */
export type CheckResult = 'passed' | 'failed' | 'not applicable';

/** Two columns of a table below a check: key and value of a tag, type and text of a rule. */
export type Tag = readonly [name: string, text: string];

/** Texts of a check, which a thousand agents with one policy share. */
export type CheckDefinition = {
  readonly title: string;
  readonly description: string | undefined;
  readonly rationale: string | undefined;
  readonly remediation: string | undefined;
  readonly file: string | undefined;
  readonly process: string | undefined;
  readonly directory: string | undefined;
  readonly registry: string | undefined;
  readonly command: string | undefined;
  readonly references: string | undefined;
  readonly condition: string | undefined;
  readonly compliance: readonly Tag[];
  readonly rules: readonly Tag[];
};

/** How a check went on one agent. */
export type CheckRow = {
  readonly result: CheckResult;
  readonly reason: string | undefined;
  /** Scan that told it last. */
  readonly scanId: number;
  /** Number of its definition. */
  readonly definition: number;
};

/** In the order of their numbers in stored rows: never to be changed. */
const RESULTS: readonly CheckResult[] = ['passed', 'failed', 'not applicable'];
const DIGEST_BYTES = 20;

const packr = new Packr({ useRecords: false, moreTypes: false });

/** Bytes of a row. */
export function encodeCheck({ result, reason, scanId, definition }: CheckRow): Buffer {
  return Buffer.from(packr.pack([RESULTS.indexOf(result), reason ?? null, scanId, definition]));
}

/** @throws StoreError `damaged` */
export function decodeCheck(bytes: Buffer): CheckRow {
  const [code, reason, scanId, definition] = unpackList(bytes);
  const result = typeof code === 'number' ? RESULTS[code] : undefined;
  if (result === undefined || typeof scanId !== 'number' || typeof definition !== 'number') throw damaged();
  return { result, reason: typeof reason === 'string' ? reason : undefined, scanId, definition };
}

/** A definition as it is stored, and the digest that it is found by. */
export type EncodedDefinition = { readonly digest: Buffer; readonly bytes: Buffer };

/** Bytes of a definition, its digest in front. */
export function encodeDefinition(definition: CheckDefinition): EncodedDefinition {
  const { title, description, rationale, remediation, file, process, directory } = definition;
  const { registry, command, references, condition, compliance, rules } = definition;
  const texts = [title, description, rationale, remediation, file, process, directory, registry, command, references];
  const columns = [...texts, condition].map((text) => text ?? null);
  const content = packr.pack([...columns, compliance.flat(), rules.flat()]);
  const digest = hash('sha256', content, 'buffer').subarray(0, DIGEST_BYTES);
  return { digest, bytes: Buffer.concat([digest, content]) };
}

/** The digest of a stored definition; shares its memory. */
export function digestOfDefinition(bytes: Buffer): Buffer {
  return bytes.subarray(0, DIGEST_BYTES);
}

/** @throws StoreError `damaged` */
export function decodeDefinition(bytes: Buffer): CheckDefinition {
  const columns = unpackList(bytes.subarray(DIGEST_BYTES));
  const text = (index: number): string | undefined => {
    const value = columns[index];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    title: text(0) ?? '',
    description: text(1),
    rationale: text(2),
    remediation: text(3),
    file: text(4),
    process: text(5),
    directory: text(6),
    registry: text(7),
    command: text(8),
    references: text(9),
    condition: text(10),
    compliance: pairs(columns[11]),
    rules: pairs(columns[12]),
  };
}

function pairs(value: unknown): Tag[] {
  if (!Array.isArray(value) || value.length % 2 !== 0) throw damaged();
  const tags: Tag[] = [];
  for (let index = 0; index < value.length; index += 2) tags.push([String(value[index]), String(value[index + 1])]);
  return tags;
}

function unpackList(bytes: Buffer): unknown[] {
  let value: unknown;
  try {
    value = packr.unpack(bytes);
  } catch (error) {
    throw damaged(error);
  }
  if (!Array.isArray(value)) throw damaged();
  return value;
}

/** What is read is not what was written. */
function damaged(cause?: unknown): StoreError {
  return new StoreError('damaged', 'queue/db/sca: an entry is not what it should be', { cause });
}
