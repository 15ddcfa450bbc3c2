import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { readable } from '../fim/byte-order.js';
import { parseRootkitFiles, parseTrojanSignatures, type TrojanSignature } from '../groups/rootcheck-lists.js';
import { compilePattern } from '../patterns/compile-pattern.js';
import type { Matcher } from '../patterns/matcher.js';
import { PatternError } from '../patterns/pattern-error.js';
import type { CheckContext } from './check-context.js';

/** Largest list read, bytes: those in use have some tens of thousands. */
const MAX_LIST_BYTES = 4 * 1024 * 1024;
/** Entries taken of a list. */
const MAX_ENTRIES = 20_000;
/** Names that are looked for everywhere, `*` entries (integrity-and-inventory.md 9.3). */
const MAX_ANYWHERE = 512;

/** A file whose presence tells of a rootkit: byte strings. */
export type RootkitEntry = { readonly path: string; readonly name: string };

/** The list of rootkit files. */
export type RootkitList = {
  /** At their place; relative to the base. */
  readonly files: readonly RootkitEntry[];
  /** Names that are looked for in the whole walk, and the rootkits they tell of. */
  readonly anywhere: ReadonlyMap<string, string>;
};

/** A signature that a binary is searched for: byte strings. */
export type TrojanEntry = {
  readonly binary: string;
  readonly signature: string;
  readonly matcher: Matcher;
  readonly message: string;
};

/**
 * Reads the list of rootkit files (integrity-and-inventory.md 9.3). What cannot be used is left out with a note; so is
 * the whole list where there is none.
 */
export function readRootkitFiles(context: CheckContext): RootkitList {
  const files: RootkitEntry[] = [];
  const anywhere = new Map<string, string>();
  const file = context.settings.rootkitFiles;
  const text = textOf(file, 'rootkit_files', context);
  for (const { filename, name } of limited(parseRootkitFiles(text ?? ''), file, context)) {
    const shortName = /^[^ :]*/.exec(name)?.[0] ?? name;
    if (filename.split('/').includes('..')) {
      context.note('warn', `'${file ?? ''}': '${readable(filename)}' leads out of its directory and is left out`);
    } else if (!filename.startsWith('*/')) {
      files.push({ path: filename.startsWith('/') ? filename : `/${filename}`, name: shortName });
    } else if (anywhere.size < MAX_ANYWHERE) {
      anywhere.set(filename.slice(filename.lastIndexOf('/') + 1), shortName);
    } else {
      context.note(
        'warn',
        `'${file ?? ''}' has more than ${String(MAX_ANYWHERE)} entries with '*': '${readable(filename)}' is left out`,
      );
    }
  }
  return { files, anywhere };
}

/** Reads the list of trojans (integrity-and-inventory.md 9.3). Regexes are extended ones, which PCRE2 understands. */
export function readTrojans(context: CheckContext): TrojanEntry[] {
  const file = context.settings.rootkitTrojans;
  const text = textOf(file, 'rootkit_trojans', context);
  return limited(parseTrojanSignatures(text ?? ''), file, context).flatMap((entry) => compiled(entry, file, context));
}

function compiled(
  { filename: binary, name: signature, description: message }: TrojanSignature,
  file: string | undefined,
  context: CheckContext,
): TrojanEntry[] {
  try {
    if (binary.split('/').includes('..')) throw new PatternError(6, 'the name leads out of its directory');
    return [{ binary, signature, message, matcher: compilePattern('pcre2', signature) }];
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    context.note('warn', `'${file ?? ''}': the entry of '${readable(binary)}' is left out: ${error.message}`);
    return [];
  }
}

function limited<T>(entries: readonly T[], file: string | undefined, context: CheckContext): readonly T[] {
  if (entries.length <= MAX_ENTRIES) return entries;
  context.note('warn', `'${file ?? ''}' has more than ${String(MAX_ENTRIES)} entries: the rest is left out`);
  return entries.slice(0, MAX_ENTRIES);
}

function textOf(file: string | undefined, element: string, context: CheckContext): string | undefined {
  if (file !== undefined) return readList(file, context);
  context.note('debug', `No list is configured as '${element}'`);
  return undefined;
}

/** The text of a list, a byte string; undefined, with a note, when it cannot be read. */
export function readList(path: string, context: CheckContext): string | undefined {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) throw new Error('it is no regular file');
      if (stats.size > MAX_LIST_BYTES) throw new Error(`it has more than ${String(MAX_LIST_BYTES)} bytes`);
      const bytes = Buffer.alloc(MAX_LIST_BYTES);
      let length = 0;
      while (length < bytes.length) {
        const read = readSync(descriptor, bytes, length, bytes.length - length, null);
        if (read === 0) break;
        length += read;
      }
      return bytes.subarray(0, length).toString('latin1');
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    context.note('warn', `The list '${path}' is not used: ${(error as Error).message}`);
    return undefined;
  }
}
