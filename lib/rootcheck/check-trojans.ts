import { bytesOf } from '../fim/byte-order.js';
import { MatchContext, type Matcher } from '../patterns/matcher.js';
import type { CheckContext } from './check-context.js';
import { trojanFound } from './findings.js';
import { PrintableStrings } from './printable-strings.js';
import type { RootcheckIgnore } from './rootcheck-ignore.js';
import type { TrojanEntry } from './rootcheck-lists.js';
import type { TreeCalls } from './tree-calls.js';
import { isSystemError, lstatOf, targetOf } from './walk-directories.js';

/** Where binaries are looked for (integrity-and-inventory.md 9.2, `trojans`). */
const PLACES = ['bin', 'sbin', 'usr/bin', 'usr/sbin'];
/** Files above this are no programs that anyone would exchange, bytes. */
const MOST_BYTES = 256n * 1024n ** 2n;
const CHUNK_BYTES = 64 * 1024;
/** Steps of a regex for one string of a file. */
const STEPS = 200_000;

/** Looks for signatures of trojans in the programs they replace. */
export async function checkTrojans(
  context: CheckContext,
  calls: TreeCalls,
  entries: readonly TrojanEntry[],
  ignore: RootcheckIgnore,
): Promise<void> {
  const { base } = context.settings;
  // A link among them leads to another of them: each program is looked at once.
  const places = PLACES.map((place) => `${base}/${place}`).filter((place) => lstatOf(calls, place)?.isDirectory());
  const search = new SignatureSearch(context, calls);
  for (const { binary, signature, matcher, message } of entries) {
    const paths = binary.startsWith('/') ? [`${base}${binary}`] : places.map((place) => `${place}/${binary}`);
    for (const path of paths) {
      context.step();
      if (!ignore.ignores(path) && search.finds(path, matcher)) {
        await context.report(trojanFound(path, signature, message));
      }
    }
  }
}

class SignatureSearch {
  readonly #context: CheckContext;
  readonly #calls: TreeCalls;
  readonly #match = new MatchContext();
  readonly #chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);

  constructor(context: CheckContext, calls: TreeCalls) {
    this.#context = context;
    this.#calls = calls;
  }

  /** Whether a string of the file matches; a file that cannot be read has none. */
  finds(path: string, matcher: Matcher): boolean {
    let descriptor: number | undefined;
    try {
      descriptor = this.#calls.open(bytesOf(targetOf(this.#context, this.#calls, path)));
      const stats = this.#calls.fstat(descriptor);
      return stats.isFile() && stats.size <= MOST_BYTES && this.#search(descriptor, matcher, path);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return false;
    } finally {
      if (descriptor !== undefined) this.#calls.close(descriptor);
    }
  }

  #search(descriptor: number, matcher: Matcher, path: string): boolean {
    const strings = new PrintableStrings();
    let left = MOST_BYTES;
    while (left > 0n) {
      this.#context.step();
      const read = this.#calls.read(descriptor, this.#chunk, this.#chunk.length);
      if (read === 0) break;
      left -= BigInt(read);
      for (const text of strings.add(this.#chunk.subarray(0, read))) {
        if (this.#matches(text, matcher, path)) return true;
      }
    }
    for (const text of strings.end()) if (this.#matches(text, matcher, path)) return true;
    return false;
  }

  #matches(text: string, matcher: Matcher, path: string): boolean {
    this.#match.stepsLeft = STEPS;
    const matches = matcher.test(text, this.#match);
    if (this.#match.exhausted) {
      this.#match.exhausted = false;
      this.#context.note('debug', `'${path}': a string takes too many steps to compare with '${matcher.source}'`);
    }
    return matches;
  }
}
