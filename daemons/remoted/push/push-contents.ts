import type { Agent } from '../agent-link.js';
import { tableId } from '../agent-report.js';
import { PushContent } from './push-content.js';
import { MAX_READY_BYTES } from './push-limits.js';

/** The merged files of groups. */
export interface MergedFiles {
  /** Checksum of the file for an agent with these groups, undefined when there is none. */
  sumOf(groups: readonly string[]): string | undefined;
  /** The file; undefined when there is none. */
  contentOf(groups: readonly string[]): Promise<{ readonly md5: string; readonly content: Buffer } | undefined>;
}

/** Who is in which groups. */
export interface GroupsOfAgents {
  /** By priority; undefined when they are not known. */
  groupsOf(id: string): readonly string[] | undefined;
}

type Ready = { readonly content: PushContent; readonly bytes: number };

/** Finds the file that an agent is to have, ready to be sealed; one object for all agents that get the same one. */
export class PushContents {
  readonly #memberships: GroupsOfAgents;
  readonly #files: MergedFiles;
  /** By checksum, what was used last at the end. */
  readonly #ready = new Map<string, Ready>();
  #bytes = 0;

  constructor(memberships: GroupsOfAgents, files: MergedFiles) {
    this.#memberships = memberships;
    this.#files = files;
  }

  /** Checksum of the agent's file; undefined when it has none, or its groups are not known. */
  sumFor(agent: Agent): string | undefined {
    const groups = this.#memberships.groupsOf(tableId(agent.id));
    return groups === undefined ? undefined : this.#files.sumOf(groups);
  }

  /** The agent's file. @throws the file system's error */
  async contentFor(agent: Agent): Promise<PushContent | undefined> {
    const groups = this.#memberships.groupsOf(tableId(agent.id));
    const sum = groups === undefined ? undefined : this.#files.sumOf(groups);
    if (groups === undefined || sum === undefined) return undefined;
    const ready = this.#take(sum);
    if (ready !== undefined) return ready;
    const file = await this.#files.contentOf(groups);
    if (file === undefined) return undefined;
    return this.#take(file.md5) ?? this.#keep(new PushContent(file.content, file.md5), file.content.length);
  }

  #take(md5: string): PushContent | undefined {
    const ready = this.#ready.get(md5);
    if (ready === undefined) return undefined;
    this.#ready.delete(md5);
    this.#ready.set(md5, ready);
    return ready.content;
  }

  #keep(content: PushContent, bytes: number): PushContent {
    this.#ready.set(content.md5, { content, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: held }] of this.#ready) {
      if (this.#bytes <= MAX_READY_BYTES || this.#ready.size === 1) break;
      this.#ready.delete(oldest);
      this.#bytes -= held;
    }
    return content;
  }
}
