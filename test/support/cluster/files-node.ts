import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ClusterFiles } from '../../../daemons/clusterd/files/cluster-files.js';
import type { RulesetEngine } from '../../../daemons/clusterd/files/ruleset-engine.js';
import { rulesetFolder, rulesetInForce } from '../../../lib/cluster/ruleset-in-force.js';
import { Home } from '../../../lib/home/home.js';
import { RecordingLogger } from '../recording-logger.js';
import type { FakeCluster } from './fake-cluster.js';
import type { MemoryBlobs } from './memory-blobs.js';

/** Content of each file below a folder, by its path. */
export function filesBelow(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const found = paths.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).sort();
  return Object.fromEntries(found.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

/**
 * Stands for svc-analysisd: a rule file with `BROKEN` in it does not load, one with `BROKEN n2` not on node n2. An absent one
 * does not run.
 */
class FakeEngine implements RulesetEngine {
  loaded: string | undefined;
  isAbsent = false;
  /** Answers wait for it. */
  hold: Promise<unknown> = Promise.resolve();
  /** Ids that it was asked about. */
  readonly checked: string[] = [];

  constructor(
    private readonly home: Home,
    private readonly node: string,
  ) {}

  async check(id: string) {
    this.checked.push(id);
    await this.hold;
    if (this.isAbsent) return { verdict: 'absent' as const, problems: [] };
    const problems = this.#problems(id);
    return { verdict: problems.length === 0 ? ('good' as const) : ('refused' as const), problems };
  }

  load(id: string) {
    if (rulesetInForce(this.home) !== id) throw new Error('another ruleset is in force');
    if (this.isAbsent) return Promise.resolve([]);
    const problems = this.#problems(id);
    if (problems.length === 0) this.loaded = id;
    return Promise.resolve(problems);
  }

  #problems(id: string): string[] {
    return Object.entries(filesBelow(this.home.path(rulesetFolder(id))))
      .filter(([, text]) => /BROKEN(?: (\S+))?/.test(text))
      .filter(([, text]) => [undefined, this.node].includes(/BROKEN(?: (\S+))?/.exec(text)?.[1]))
      .map(([path]) => `does not load (etc/${path}:1)`);
  }
}

/** A node of a cluster as far as its files go, on a folder of its own. */
export class FilesNode {
  readonly home: Home;
  readonly engine: FakeEngine;
  readonly logger = new RecordingLogger();
  /** What svc-db was told. */
  readonly groups = new Set<string>();
  files: ClusterFiles;

  constructor(
    readonly name: string,
    private readonly cluster: FakeCluster,
    private readonly blobs: MemoryBlobs,
    root: string,
    private readonly seeded: readonly string[] = [],
  ) {
    this.home = new Home(join(root, name));
    for (const folder of ['etc/shared/default', 'etc/rules', 'etc/decoders', 'etc/lists', 'queue/cluster', 'backup']) {
      mkdirSync(this.home.path(folder), { recursive: true });
    }
    this.engine = new FakeEngine(this.home, name);
    this.files = this.#make(this.seeded);
  }

  #make(seeded: readonly string[]): ClusterFiles {
    const { home, logger, name, engine, groups } = this;
    const db = {
      call: (method: string, params: { readonly name?: string; readonly names?: readonly string[] }) => {
        if (method === 'groups.create' && params.name !== undefined) groups.add(params.name);
        if (method === 'groups.remove') for (const group of params.names ?? []) groups.delete(group);
        return Promise.resolve({ groups: [...groups].map((group) => ({ name: group, count: 0 })), mark: '' });
      },
    };
    return new ClusterFiles({
      home,
      logger,
      self: name,
      client: this.cluster.client(name, seeded),
      blobs: this.blobs.of(() => this.cluster.away.has(name)),
      engine,
      db: db as never,
      checkMs: 200,
      watch: false,
    });
  }

  start(): void {
    this.files.start();
  }

  stop(): Promise<void> {
    return this.files.stop();
  }

  /** Starts once more after a stop, with what is on the disk. */
  restart(): void {
    this.files = this.#make(['svc-clusterd']);
    this.files.start();
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(this.home.path(path)), { recursive: true });
    writeFileSync(this.home.path(path), content);
  }

  read(path: string): string | undefined {
    return existsSync(this.home.path(path)) ? readFileSync(this.home.path(path), 'utf8') : undefined;
  }

  remove(path: string): void {
    rmSync(this.home.path(path), { recursive: true, force: true });
  }

  /** Files of all groups, and of the ruleset. */
  tree(): Record<string, string> {
    const of = (folder: string) =>
      Object.entries(filesBelow(this.home.path(folder))).map(([path, text]) => [`${folder}/${path}`, text] as const);
    return Object.fromEntries(['etc/shared', 'etc/rules', 'etc/decoders', 'etc/lists'].flatMap(of));
  }

  /** What was logged at a level. */
  logged(level: 'info' | 'warn' | 'error'): string[] {
    return this.logger.lines.filter((line) => line.startsWith(`${level}: `));
  }

  /** Versions that gave way, without the folder of their moment. */
  kept(): Record<string, string> {
    const kept = Object.entries(filesBelow(this.home.path('backup/cluster')));
    return Object.fromEntries(kept.map(([path, text]) => [path.slice(path.indexOf('/') + 1), text]));
  }
}
