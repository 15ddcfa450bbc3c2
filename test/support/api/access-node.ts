import { mkdirSync } from 'node:fs';
import { Authenticator } from '../../../api/auth/authenticator.js';
import { LocalDecisions } from '../../../api/auth/local-decisions.js';
import { PasswordHasher } from '../../../api/auth/password-hasher.js';
import { securityFiles } from '../../../api/auth/security-files.js';
import { SecuritySettings } from '../../../api/auth/security-settings.js';
import { SigningKeys } from '../../../api/auth/signing-keys.js';
import { TokenService } from '../../../api/auth/token-service.js';
import type { AccessDecisions } from '../../../api/rbac/access-decisions.js';
import { ADMINISTRATOR_ROLE, DEFAULT_USERS } from '../../../api/rbac/default-objects.js';
import { PolicyAdministration } from '../../../api/rbac/policy-administration.js';
import { RbacStore } from '../../../api/rbac/rbac-store.js';
import { RoleAdministration } from '../../../api/rbac/role-administration.js';
import { SecurityRuleAdministration } from '../../../api/rbac/security-rule-administration.js';
import { SharedAccess } from '../../../api/rbac/shared/shared-access.js';
import { SharedDecisions } from '../../../api/rbac/shared/shared-decisions.js';
import { UserAdministration } from '../../../api/rbac/user-administration.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { CallParams } from '../../../lib/bus/contract.js';
import type { clusterdContract } from '../../../lib/bus/contracts/clusterd.js';
import { type ClusterdClient, SharedRecords } from '../../../lib/cluster/shared-records.js';
import type { FakeCluster } from '../cluster/fake-cluster.js';
import { RecordingLogger } from '../recording-logger.js';
import { TemporaryHome } from '../temporary-home.js';

type Commit = CallParams<typeof clusterdContract, 'records.commit'>;

/** A svc-clusterd that may be cut off, or die in the middle of a commit. */
export class CuttableClient implements ClusterdClient {
  cut = false;
  /** Changes of the next commit that are made, before the connection is lost. */
  diesAfter: number | undefined;

  constructor(private readonly inner: ClusterdClient) {}

  readonly call: ClusterdClient['call'] = async (method, params, options) => {
    if (this.cut && method === 'records.changes') {
      const { after, waitMs = 0 } = params as CallParams<typeof clusterdContract, 'records.changes'>;
      await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, 5)));
      options?.signal?.throwIfAborted();
      if (after === 0) throw new BusError('cluster_unavailable', 'cut off before it had a copy');
      return { changes: [], through: after, more: false } as never;
    }
    if (method === 'records.commit') {
      if (this.cut) throw new BusError('cluster_unavailable', 'cut off');
      const { diesAfter } = this;
      this.diesAfter = undefined;
      const commit = params as Commit;
      if (diesAfter !== undefined && diesAfter < commit.changes.length) {
        const changes = commit.changes.slice(0, diesAfter);
        if (changes.length > 0) await this.inner.call('records.commit', { ...commit, changes }, options);
        throw new BusError('cluster_unavailable', 'it is not known what was made');
      }
    }
    const answer = await this.inner.call(method, params, options);
    // What was waited for does not come any more.
    if (this.cut && method === 'records.changes') throw new BusError('cluster_unavailable', 'cut off');
    return answer;
  };
}

/** What svc-apid of one node has of users and permissions, without HTTP. */
export class AccessNode {
  readonly home = new TemporaryHome();
  readonly logger = new RecordingLogger();
  readonly #hasher = new PasswordHasher(4, { N: 16, r: 1, p: 1 });
  client: CuttableClient | undefined;
  #open: OpenNode | undefined;

  constructor(readonly name: string) {
    mkdirSync(this.home.path('api', 'configuration', 'security'), { recursive: true });
  }

  /** Makes it a node of a cluster from its next start on. @param seeded whether it has brought what it has */
  belongsTo(cluster: FakeCluster, seeded = false): void {
    this.client = new CuttableClient(cluster.client(this.name, seeded ? ['svc-apid'] : []));
  }

  async start(now: () => number = Date.now): Promise<void> {
    const files = securityFiles(this.home);
    const store = await RbacStore.open(files.store, () => this.#firstUsers());
    const settings = new SecuritySettings(this.home, this.logger);
    const keys = new SigningKeys(files.privateKey, files.publicKey);
    await keys.ensure();
    const tokens = new TokenService(keys, now);
    const authenticator = new Authenticator(store, tokens, this.#hasher, settings);
    let shared: SharedRecords | undefined;
    let decisions: AccessDecisions = new LocalDecisions({ store, settings, keys });
    if (this.client !== undefined) {
      const owner = new SharedAccess({ store, settings, keys, logger: this.logger });
      const { client, logger } = this;
      shared = new SharedRecords({ client, daemon: 'svc-apid', kinds: ['access'], owner, logger });
      shared.start();
      decisions = new SharedDecisions({ shared, store, settings });
    }
    this.#open = {
      store,
      settings,
      keys,
      tokens,
      authenticator,
      shared,
      decisions,
      users: new UserAdministration(store, decisions, this.#hasher),
      roles: new RoleAdministration(store, decisions),
      policies: new PolicyAdministration(store, decisions),
      rules: new SecurityRuleAdministration(store, decisions),
    };
  }

  /** Its parts, while it runs. */
  get up(): OpenNode {
    if (this.#open === undefined) throw new Error(`${this.name} does not run`);
    return this.#open;
  }

  /** A token, as a login gives it. */
  logIn(user: string, roles?: readonly number[]): string | undefined {
    const { store, tokens, settings } = this.up;
    const known = store.users.named(user);
    if (known === undefined) return undefined;
    const subject = { name: user, roles: roles ?? known.roles, revision: store.revision };
    return tokens.issue(roles === undefined ? subject : { ...subject, contextHash: 'x' }, settings.current());
  }

  /** Whether a request with the token would be let in. */
  takes(token: string): boolean {
    try {
      this.up.authenticator.authenticate(`Bearer ${token}`);
      return true;
    } catch {
      return false;
    }
  }

  async stop(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.shared?.close();
    await open?.store.close();
  }

  async remove(): Promise<void> {
    await this.stop();
    this.home.remove();
  }

  #firstUsers() {
    return Promise.all(
      DEFAULT_USERS.map(async ({ id, name }) => ({
        id,
        name,
        allowRunAs: true,
        passwordHash: await this.#hasher.hash(`${this.name}-Password-1`, { address: 'test' }),
        roles: [ADMINISTRATOR_ROLE],
      })),
    );
  }
}

type OpenNode = {
  readonly store: RbacStore;
  readonly settings: SecuritySettings;
  readonly keys: SigningKeys;
  readonly tokens: TokenService;
  readonly authenticator: Authenticator;
  readonly shared: SharedRecords | undefined;
  readonly decisions: AccessDecisions;
  readonly users: UserAdministration;
  readonly roles: RoleAdministration;
  readonly policies: PolicyAdministration;
  readonly rules: SecurityRuleAdministration;
};
