import { bytesOf, readable } from '../fim/byte-order.js';
import { MatchContext } from '../patterns/matcher.js';
import { type AuditEntry, type AuditRule, readAuditFile } from './audit-file.js';
import type { AuditPattern } from './audit-pattern.js';
import type { CheckContext } from './check-context.js';
import { auditFinding } from './findings.js';
import { readList } from './rootcheck-lists.js';
import { runningExecutables } from './running-executables.js';
import type { TreeCalls } from './tree-calls.js';
import { isSystemError, lstatOf, targetOf, walkDirectories } from './walk-directories.js';

/** Larger files are not compared with patterns, bytes. */
const MOST_FILE_BYTES = 16 * 1024 * 1024;
/** Files that one entry names: a message each. */
const MOST_FILES = 255;

/** Does an entry find something, and in which files. */
type AuditOutcome = { readonly matches: boolean; readonly files: readonly string[] };

/** Looks for what the `system_audit` files describe (integrity-and-inventory.md 9.3). */
export async function checkAudit(
  context: CheckContext,
  calls: TreeCalls,
  executables: () => readonly string[] = runningExecutables,
): Promise<void> {
  const audit = new Audit(context, calls, executables());
  for (const file of context.settings.systemAudit) {
    context.step();
    const text = readList(file, context);
    const entries = readAuditFile(text ?? '', (line, problem) => {
      context.note('warn', `'${file}' line ${String(line)}: ${readable(problem)}`);
    });
    for (const entry of entries) {
      const { matches, files } = await audit.evaluate(entry);
      if (!matches && entry.required) break;
      if (!matches) continue;
      for (const path of files.length === 0 ? [undefined] : files) {
        await context.report(auditFinding(entry.name, path, entry.reference));
      }
    }
  }
}

class Audit {
  readonly #context: CheckContext;
  readonly #calls: TreeCalls;
  readonly #executables: readonly string[];
  readonly #match = new MatchContext();

  constructor(context: CheckContext, calls: TreeCalls, executables: readonly string[]) {
    this.#context = context;
    this.#calls = calls;
    this.#executables = executables;
  }

  async evaluate({ condition, rules }: AuditEntry): Promise<AuditOutcome> {
    const files = new Set<string>();
    let matching = 0;
    for (const rule of rules) {
      const found = await this.#rule(rule, files);
      if (found !== rule.negated) matching += 1;
      else if (condition === 'all') return { matches: false, files: [] };
    }
    if (condition === 'none') return { matches: matching === 0, files: [] };
    return { matches: matching > 0, files: [...files].slice(0, MOST_FILES) };
  }

  /** Whether a rule matches before it is negated. @param files takes those that match one that is not */
  async #rule(rule: AuditRule, files: Set<string>): Promise<boolean> {
    if (rule.type === 'process') {
      return this.#executables.some((path) => rule.pattern.test(path, this.#match));
    }
    const found = new Set<string>();
    for (const path of rule.paths) {
      this.#context.step();
      const full = `${this.#context.settings.base}${path}`;
      if (rule.type === 'directory') await this.#directory(full, rule, found);
      else if (rule.pattern === undefined ? this.#exists(full) : this.#matches(full, rule.pattern)) found.add(full);
    }
    if (!rule.negated) for (const path of found) files.add(path);
    return found.size > 0;
  }

  async #directory(
    root: string,
    { name, pattern }: Extract<AuditRule, { type: 'directory' }>,
    found: Set<string>,
  ): Promise<void> {
    if (name === undefined) {
      if (lstatOf(this.#calls, targetOf(this.#context, this.#calls, root))?.isDirectory() === true) found.add(root);
      return;
    }
    await walkDirectories(this.#context, this.#calls, targetOf(this.#context, this.#calls, root), {
      enters: () => true,
      entry: (path, entry) => {
        if (found.size < MOST_FILES && name.test(entry.name, this.#match)) {
          if (pattern === undefined || this.#matches(path, pattern)) found.add(path);
        }
        return Promise.resolve();
      },
      leaves: () => Promise.resolve(),
    });
  }

  #exists(path: string): boolean {
    return lstatOf(this.#calls, path) !== undefined;
  }

  /** Whether some line of a file is as the pattern says, or all lines are where it only says what must not be. */
  #matches(path: string, pattern: AuditPattern): boolean {
    const lines = this.#lines(path);
    if (lines === undefined) return false;
    const holds = (line: string): boolean => pattern.test(line, this.#match);
    return pattern.isNegative ? lines.every(holds) : lines.some(holds);
  }

  /** Undefined when there is no such file, or none that can be read whole. */
  #lines(path: string): string[] | undefined {
    let descriptor: number | undefined;
    try {
      descriptor = this.#calls.open(bytesOf(targetOf(this.#context, this.#calls, path)));
      const stats = this.#calls.fstat(descriptor);
      if (!stats.isFile()) return undefined;
      const chunks: Buffer[] = [];
      for (let length = 0; ;) {
        this.#context.step();
        const chunk = Buffer.allocUnsafe(64 * 1024);
        const read = this.#calls.read(descriptor, chunk, chunk.length);
        if (read === 0) break;
        length += read;
        if (length > MOST_FILE_BYTES) {
          this.#context.note('debug', `'${readable(path)}' is too large to be compared with a pattern`);
          return undefined;
        }
        chunks.push(chunk.subarray(0, read));
      }
      const lines = Buffer.concat(chunks).toString('latin1').replaceAll('\0', '').split(/\r?\n/);
      // What ends with a line end has no line behind it.
      if (lines.at(-1) === '') lines.pop();
      return lines;
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return undefined;
    } finally {
      if (descriptor !== undefined) this.#calls.close(descriptor);
    }
  }
}
