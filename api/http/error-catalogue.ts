import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { describeIssue } from '../../lib/bus/describe-issue.js';
import { describeError } from '../../lib/log/describe-error.js';
import { productRoot } from '../../lib/product/product-root.js';
import type { ErrorCode } from './error-code.js';

const catalogueEntry = z.strictObject({
  /** Usual HTTP status when the code ends a whole request; inside `failed_items` it travels in a 200. */
  status: z.int().min(400).max(599),
  /** Text of the code; `{name}` is filled in where it is raised. Clients compare these texts. */
  message: z.string().min(1),
  remediation: z.string().min(1).optional(),
});

/** What a client sees of an error code (rest-api.md 3.6). */
export type CatalogueEntry = z.infer<typeof catalogueEntry>;

/** Every error code the API can answer with, in the order of the codes. */
export type ErrorCatalogue = ReadonlyMap<number, CatalogueEntry>;

const catalogue = z.record(z.string().regex(/^[1-9]\d*$/), catalogueEntry);

/**
 * Reads `api/errors.yaml` of the product, as the build left it in JSON.
 * @throws Error that names the file and the code when it is not what this program expects: a broken installation
 */
export function loadErrorCatalogue(file = new URL('dist/errors.json', productRoot())): ErrorCatalogue {
  try {
    const codes = catalogue.parse(JSON.parse(readFileSync(file, 'utf8')));
    return new Map(Object.entries(codes).map(([code, entry]) => [Number(code), entry]));
  } catch (error) {
    throw new Error(`The error catalogue ${fileURLToPath(file)} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}

let ours: ErrorCatalogue | undefined;

/** The catalogue of the product, read when it is first asked for. @throws Error as {@link loadErrorCatalogue} */
export function errorCatalogue(): ErrorCatalogue {
  return (ours ??= loadErrorCatalogue());
}

/** Whether a number, such as another program said, is a code of the catalogue. */
export function isErrorCode(code: number): code is ErrorCode {
  return errorCatalogue().has(code);
}

function reasonOf(error: unknown): string {
  return error instanceof z.ZodError ? describeIssue('codes', error) : describeError(error);
}
