import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fchmodSync,
  fchownSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ifPresentSync } from '../../../lib/files/if-present.js';
import { openRealDirectory } from '../../../lib/files/open-real-directory.js';
import { NotRegularFileError, withRegularFileSync } from '../../../lib/files/regular-file.js';
import type { Home } from '../../../lib/home/home.js';
import {
  checkHomePath,
  HomeError,
  type HomeRecord,
  type HomeRole,
  readHomeRecord,
} from '../../../lib/home/home-record.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { randomPassword } from '../../../lib/security/initial-password.js';
import { ensureTokenKeys } from '../../../lib/security/token-keys.js';
import { ensureSelfSignedCertificate } from '../../../lib/tls/self-signed-certificate.js';
import { hostLogSection } from '../host-log-section.js';
import { ensureEnrollmentCertificate } from './enrollment-certificate.js';
import {
  AGENT_FILES,
  COMMON_DIRECTORIES,
  COMMON_FILES,
  HOME_RECORD,
  type LayoutOwner,
  RULESET_DIRECTORIES,
  SERVER_DIRECTORIES,
  SERVER_EMPTY_FILES,
  SERVER_FILES,
  TAKEN_OVER,
} from './home-layout.js';
import { makeFile } from './make-file.js';
import { mendEntry } from './mend-home.js';
import { makeResponses } from './response-launchers.js';
import type { ServiceAccount } from './service-account.js';

/** How a home is made. */
export type InitOptions = {
  readonly role: HomeRole;
  /** Owner of the service's files; only for root. Without it everything belongs to whoever makes the home. */
  readonly account?: ServiceAccount;
  /** Brings a home up to this version: replaces `ruleset/` by the one shipped with it, sets owners and modes of directories. */
  readonly updateRuleset?: boolean;
  /** False leaves keys, certificates and passwords to the first start: copies of an image must not share them. */
  readonly secrets?: boolean;
  /** Where the shipped files are (default: the product's `etc/`). */
  readonly templates?: string;
  /** Where the product will be, for files that name it (default: where it is). */
  readonly product?: string;
  /** Told each path below the home that was there and did not belong to whom it should. */
  readonly onMended?: (path: string) => void;
};

/** Entries that decide whether the record of a home can be believed. */
const FIRST_MENDED = ['', 'etc', 'var', 'var/run'];

/** Built-in API users whose first password is made here (rest-api.md 2.5). */
const PASSWORD_FILES = ['initial-admin-password', 'initial-wui-password'] as const;

/** What svc-authd reads beside its configuration (agents-and-groups.md 2.1, 2.2). */
const ENROLLMENT_FILES = ['etc/sslmanager.key', 'etc/sslmanager.cert', 'etc/authd.pass'] as const;

/** Entries that a fresh volume has and that do not make a directory somebody else's. */
const HARMLESS = new Set(['lost+found']);

/**
 * Makes a home: directories, configuration, ruleset and, where they are its own to make, keys, certificates and first
 * passwords, each only where it is missing, so that running it again changes nothing. `etc/home.json` comes first: an
 * interrupted run is taken up by the next. With an account, what is there already gets the owner it should have.
 * @returns paths below the home that were made, in order
 * @throws HomeError when the directory cannot become a home or has another role already
 */
export async function initHome(home: Home, options: InitOptions): Promise<string[]> {
  checkHomePath(home);
  const maker = new HomeMaker(home, options);
  return maker.make();
}

class HomeMaker {
  readonly #home: Home;
  readonly #options: InitOptions;
  readonly #templates: string;
  readonly #made: string[] = [];

  constructor(home: Home, options: InitOptions) {
    this.#home = home;
    this.#options = options;
    this.#templates = options.templates ?? fileURLToPath(new URL('etc/', productRoot()));
  }

  async make(): Promise<string[]> {
    const server = this.#options.role === 'server';
    this.#refuseForeignDirectory(server);
    const directories = [...COMMON_DIRECTORIES, ...(server ? SERVER_DIRECTORIES : [])];
    const files = [...COMMON_FILES, ...(server ? SERVER_FILES : AGENT_FILES)];
    for (const directory of directories) {
      if (FIRST_MENDED.includes(directory.path)) this.#mend({ ...directory, keepGroup: true }, 'directory');
    }
    this.#mend({ ...HOME_RECORD, path: HOME_RECORD.to, keepGroup: true }, 'file');
    for (const path of ['', 'etc']) {
      const directory = directories.find((candidate) => candidate.path === path);
      if (directory !== undefined) this.#directory(directory.path, directory.owner, directory.mode);
    }
    this.#record();
    for (const directory of directories) this.#mend(directory, 'directory');
    for (const { to, owner, mode } of [HOME_RECORD, TAKEN_OVER, ...files]) {
      if (owner === 'root') this.#mend({ path: to, owner, mode }, 'file');
    }
    for (const { path, owner, mode } of directories) this.#directory(path, owner, mode);
    for (const { from, to, owner, mode } of files) {
      const host = to === 'etc/manager.conf' ? hostLogSection() : '';
      this.#file(to, owner, mode, () => Buffer.concat([this.#template(from), Buffer.from(host)]));
    }
    const product = this.#options.product ?? fileURLToPath(productRoot());
    this.#made.push(...makeResponses(this.#home, product, this.#ids('root')));
    if (server) {
      if (this.#options.updateRuleset === true) this.#shareEnrollmentFiles();
      for (const { to, owner, mode } of SERVER_EMPTY_FILES) this.#file(to, owner, mode, () => '');
    }
    this.#ruleset();
    if (server) await this.#secrets();
    return this.#made;
  }

  /** `init --home /etc` by mistake must not scatter a home over a system directory. */
  #refuseForeignDirectory(server: boolean): void {
    const { root } = this.#home;
    if (!existsSync(root)) return;
    if (!statSync(root).isDirectory()) throw new HomeError(`'${root}' is not a directory`);
    if (existsSync(this.#home.path('etc', 'home.json'))) return;
    const known = new Set(
      [...COMMON_DIRECTORIES, ...(server ? SERVER_DIRECTORIES : [])].map(({ path }) => path.split('/')[0]),
    );
    const foreign = readdirSync(root).filter((entry) => !known.has(entry) && !HARMLESS.has(entry));
    if (foreign.length > 0) {
      throw new HomeError(
        `'${root}' holds other files ('${foreign[0] ?? ''}') and is not a home: choose another directory`,
      );
    }
  }

  #record(): void {
    const { role, account } = this.#options;
    const record: HomeRecord = { version: 1, role, ...account };
    const path = this.#home.path('etc', 'home.json');
    if (existsSync(path)) {
      const existing = readHomeRecord(this.#home);
      if (existing.role !== role) {
        throw new HomeError(`'${this.#home.root}' is a home for role '${existing.role}' already`);
      }
      if (account !== undefined && (existing.user !== account.user || existing.group !== account.group)) {
        throw new HomeError(
          `'${this.#home.root}' belongs to ${existing.user ?? 'whoever starts it'} already (etc/home.json)`,
        );
      }
      return;
    }
    this.#file(HOME_RECORD.to, HOME_RECORD.owner, HOME_RECORD.mode, () => `${JSON.stringify(record, undefined, 2)}\n`);
  }

  /** Whose home it is must be known before its group is given to anything: until then that stays. */
  #mend(
    entry: { readonly path: string; readonly owner: LayoutOwner; readonly mode: number; readonly keepGroup?: boolean },
    kind: 'directory' | 'file',
  ): void {
    const ids = this.#ids(entry.owner);
    if (ids === undefined) return;
    const owner = { uid: ids.uid, gid: entry.keepGroup === true ? undefined : ids.gid };
    if (mendEntry(this.#home, entry, owner, kind)) this.#options.onMended?.(entry.path === '' ? '.' : entry.path);
  }

  #directory(path: string, owner: LayoutOwner, mode: number): void {
    const absolute = this.#home.path(path);
    if (existsSync(absolute)) return;
    mkdirSync(absolute, { recursive: path === '', mode });
    // Through a descriptor: in a directory of the service user the name could become a link before root comes to it.
    const fd = openRealDirectory(absolute);
    try {
      const ids = this.#ids(owner);
      if (ids !== undefined) fchownSync(fd, ids.uid, ids.gid);
      fchmodSync(fd, mode);
    } finally {
      closeSync(fd);
    }
    this.#made.push(path === '' ? '.' : path);
  }

  /** See {@link makeFile}. */
  #file(path: string, owner: LayoutOwner, mode: number, content: () => string | Buffer): void {
    if (makeFile(this.#home.path(path), mode, content, this.#ids(owner))) this.#made.push(path);
  }

  #template(from: string): Buffer {
    try {
      return readFileSync(join(this.#templates, from));
    } catch (error) {
      throw new HomeError(`the product is incomplete: ${(error as Error).message}`);
    }
  }

  /** A ruleset that is there stays, whoever put it there; `updateRuleset` replaces it file by file. */
  #ruleset(): void {
    for (const directory of RULESET_DIRECTORIES[this.#options.role]) {
      const target = this.#home.path('ruleset', directory);
      const source = join(this.#templates, 'ruleset', directory);
      if (!existsSync(source)) continue;
      if (this.#options.updateRuleset === true) {
        for (const name of readdirSync(target)) rmSync(join(target, name), { recursive: true });
      } else if (readdirSync(target).length > 0) {
        continue;
      }
      this.#copyTree(source, `ruleset/${directory}`);
    }
  }

  #copyTree(source: string, target: string): void {
    for (const entry of readdirSync(source, { withFileTypes: true })) {
      const from = join(source, entry.name);
      const to = `${target}/${entry.name}`;
      if (entry.isDirectory()) {
        this.#directory(to, 'root', 0o750);
        this.#copyTree(from, to);
      } else if (entry.isFile()) {
        const absolute = this.#home.path(to);
        copyFileSync(from, absolute);
        const ids = this.#ids('root');
        if (ids !== undefined) lchownSync(absolute, ids.uid, ids.gid);
        chmodSync(absolute, 0o640);
        this.#made.push(to);
      }
    }
  }

  async #secrets(): Promise<void> {
    const { account, secrets = true } = this.#options;
    if (!secrets) return;
    // Where they belong to a service user its svc-apid makes them: root changes no owners in directories of others.
    if (account === undefined) await this.#apiSecrets();
    this.#made.push(...(await ensureEnrollmentCertificate(this.#home, account?.gid)));
  }

  async #apiSecrets(): Promise<void> {
    const ssl = (name: string) => this.#home.path('api', 'configuration', 'ssl', name);
    const security = (name: string) => this.#home.path('api', 'configuration', 'security', name);
    const certificate = { key: ssl('server.key'), certificate: ssl('server.crt') };
    const made: string[] = [];
    if (await ensureSelfSignedCertificate(certificate, { info: () => {} })) {
      made.push(certificate.key, certificate.certificate);
    }
    const keys = { privateKey: security('private_key.pem'), publicKey: security('public_key.pem') };
    made.push(...(await ensureTokenKeys(keys)));
    this.#made.push(...made.map((path) => path.slice(this.#home.root.length + 1)));
    // Once the users' store exists the first passwords are spent: a file made now would name a wrong one.
    if (existsSync(security('rbac'))) return;
    for (const name of PASSWORD_FILES) {
      this.#file(`api/configuration/security/${name}`, 'service', 0o600, () => `${randomPassword()}\n`);
    }
  }

  /** svc-authd was root in older versions, and read files that only root may read: now its group may, too. */
  #shareEnrollmentFiles(): void {
    const ids = this.#ids('root');
    if (ids === undefined) return;
    for (const path of ENROLLMENT_FILES) {
      const share = (fd: number, { nlink, uid }: Stats): void => {
        if (nlink !== 1 || uid !== 0) return;
        fchownSync(fd, ids.uid, ids.gid);
        fchmodSync(fd, 0o640);
      };
      try {
        ifPresentSync(() => {
          withRegularFileSync(this.#home.path(path), share);
        });
      } catch (error) {
        // What a link leads to is not ours to share.
        if (!(error instanceof NotRegularFileError)) throw error;
      }
    }
  }

  #ids(owner: LayoutOwner): { uid: number; gid: number } | undefined {
    const { account } = this.#options;
    if (account === undefined) return undefined;
    return { uid: owner === 'root' ? 0 : account.uid, gid: account.gid };
  }
}
