/** What a {@link WorkQueue} is worked off with. */
export type WorkHandlers = {
  readonly root: () => Promise<void>;
  readonly folders: () => void;
  /** @returns milliseconds after which the group is to come again */
  readonly group: (name: string) => Promise<number | undefined>;
  readonly list: (key: string) => Promise<void>;
  /** What changed has been worked off; `isAllDone`: so has the check. */
  readonly urgentDone: (isAllDone: boolean) => void;
  /** The check has come to its end. */
  readonly checked: () => void;
  readonly failed: (error: unknown) => void;
};

/**
 * What is to be looked at, one thing at a time: etc/shared itself, then groups that changed, then lists of groups of which
 * one changed, and the periodic check whenever none of these is left.
 */
export class WorkQueue {
  #isRootDue = false;
  #areFoldersDue = false;
  readonly #groups = new Set<string>();
  readonly #lists = new Set<string>();
  readonly #checkGroups = new Set<string>();
  readonly #checkLists = new Set<string>();
  #isChecking = false;
  readonly #later = new Map<string, NodeJS.Timeout>();
  #rootLater: NodeJS.Timeout | undefined;
  #waiting: { readonly group: string | undefined; readonly done: () => void }[] = [];
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(private readonly work: WorkHandlers) {}

  root(): void {
    this.#isRootDue = true;
    this.#kick();
  }

  folders(): void {
    this.#areFoldersDue = true;
    this.#kick();
  }

  group(name: string): void {
    this.#groups.add(name);
    this.#kick();
  }

  list(key: string): void {
    this.#lists.add(key);
    this.#kick();
  }

  /** Whether a check has begun and not ended. */
  get isChecking(): boolean {
    return this.#isChecking;
  }

  /** Adds to the check. */
  checkAll(groups: readonly string[], lists: readonly string[]): void {
    for (const group of groups) this.#checkGroups.add(group);
    for (const list of lists) this.#checkLists.add(list);
    this.#isChecking = true;
    this.#kick();
  }

  rootLater(milliseconds: number): void {
    if (this.#isStopped) return;
    this.#rootLater ??= setTimeout(() => {
      this.#rootLater = undefined;
      this.root();
    }, milliseconds);
  }

  /** A group that waits already is not put off further. */
  groupLater(name: string, milliseconds: number): void {
    if (this.#isStopped || this.#later.has(name)) return;
    this.#later.set(
      name,
      setTimeout(() => {
        this.#later.delete(name);
        this.group(name);
      }, milliseconds),
    );
  }

  /** Puts a group in front; resolves when it and the lists it is in have been worked off. */
  groupDone(name: string): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ group: name, done: resolve });
      this.group(name);
    });
  }

  /** Resolves when nothing is left, and nothing put off. */
  settled(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ group: undefined, done: resolve });
      this.#kick();
    });
  }

  /** Resolves when what is being done has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#rootLater);
    for (const timer of this.#later.values()) clearTimeout(timer);
    this.#later.clear();
    await this.#running;
    for (const { done } of this.#waiting) done();
    this.#waiting = [];
  }

  #kick(): void {
    if (this.#running !== undefined || this.#isStopped) return;
    // What is asked for in one go is known before the first of it is done.
    this.#running = Promise.resolve()
      .then(() => this.#run())
      .finally(() => {
        this.#running = undefined;
        if (this.#isDue()) this.#kick();
      });
  }

  #isDue(): boolean {
    return this.#isUrgent() || this.#isChecking;
  }

  #isUrgent(): boolean {
    return this.#isRootDue || this.#areFoldersDue || this.#groups.size > 0 || this.#lists.size > 0;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#next();
      } catch (error) {
        this.work.failed(error);
      }
      if (this.#isStopped) return;
      if (!this.#isUrgent()) this.#urgentDone();
      if (!this.#isDue()) return;
    }
  }

  async #next(): Promise<void> {
    if (this.#isRootDue) {
      this.#isRootDue = false;
      return this.work.root();
    }
    if (this.#areFoldersDue) {
      this.#areFoldersDue = false;
      this.work.folders();
      return;
    }
    const group = take(this.#groups) ?? (this.#lists.size === 0 ? take(this.#checkGroups) : undefined);
    if (group !== undefined) return this.#group(group);
    const list = take(this.#lists) ?? take(this.#checkLists);
    if (list !== undefined) return this.work.list(list);
  }

  async #group(name: string): Promise<void> {
    clearTimeout(this.#later.get(name));
    this.#later.delete(name);
    this.#checkGroups.delete(name);
    const again = await this.work.group(name);
    if (again !== undefined) this.groupLater(name, again);
  }

  #urgentDone(): void {
    const isCheckLeft = this.#checkGroups.size > 0 || this.#checkLists.size > 0;
    this.work.urgentDone(!isCheckLeft);
    if (!isCheckLeft && this.#isChecking) {
      this.#isChecking = false;
      this.work.checked();
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const each of waiting) {
      const isDone =
        each.group === undefined
          ? !isCheckLeft && this.#later.size === 0 && this.#rootLater === undefined
          : !this.#later.has(each.group);
      if (isDone) each.done();
      else this.#waiting.push(each);
    }
  }
}

/** Takes the oldest of a set. */
function take(set: Set<string>): string | undefined {
  for (const first of set) {
    set.delete(first);
    return first;
  }
  return undefined;
}
