import { mkdirSync, writeFileSync } from 'node:fs';
import { PasswordHasher } from '../../../../api/auth/password-hasher.js';
import { RbacStore } from '../../../../api/rbac/rbac-store.js';
import { DbServer } from '../../db/db-server.js';
import { sampleAgent } from '../../db/sample-agents.js';
import { RemotedServer } from '../../remoted/remoted-server.js';
import { TestApi } from '../test-api.js';
import type { ReferenceMode, ReferencePolicy } from './reference-evaluator.js';

/** Agents with their groups. */
export const WORLD_AGENTS: Readonly<Record<string, readonly string[]>> = {
  '000': [],
  '001': ['web'],
  '002': ['web', 'db'],
  '003': ['mail'],
  '004': ['default'],
  '005': [],
};
export const WORLD_GROUPS = ['db', 'default', 'mail', 'web'];
export const WORLD_FILES: Readonly<Record<string, readonly string[]>> = {
  'rule:file': ['one_rules.xml', 'two_rules.xml'],
  'decoder:file': ['one_decoders.xml', 'two_decoders.xml'],
  'list:file': ['one', 'two'],
};
/** The name of the node in a home with a cluster. */
export const WORLD_NODE = 'node01';
/** Own roles and policies of users begin here; there is one each for a user. */
export const FIRST_OWN_ID = 100;

const FILE_NAMES = ['one', 'two'];
const PASSWORD = 'Another-42-word';
const CLUSTER = `<cluster><node_name>${WORLD_NODE}</node_name><key>${'k'.repeat(32)}</key><nodes><node>192.0.2.1</node></nodes></cluster>`;
const RULESET = `<ruleset><rule_dir>etc/rules</rule_dir><decoder_dir>etc/decoders</decoder_dir></ruleset>`;

/** A user of the world: with built-in roles, or with policies of its own. */
export type WorldUser = {
  readonly name: string;
  readonly roles?: readonly number[];
  readonly policies?: readonly ReferencePolicy[];
};

export type WorldOptions = {
  readonly mode: ReferenceMode;
  readonly cluster: boolean;
  readonly users: readonly WorldUser[];
  /** Agents that there are besides the manager; all by default. */
  readonly agents?: readonly string[];
  /** Groups that there are besides `default`; all by default. */
  readonly groups?: readonly string[];
  /** Files of rules and of decoders, and lists, by what their names begin with; all by default. */
  readonly files?: readonly string[];
};

/** The API with svc-db and svc-remoted in this process, a few objects of each kind, and users with permissions to be tried. */
export class PermissionWorld {
  private constructor(
    readonly api: TestApi,
    private readonly db: DbServer,
    private readonly remoted: RemotedServer,
  ) {}

  static async start(options: WorldOptions): Promise<PermissionWorld> {
    const { users, agents = Object.keys(WORLD_AGENTS), groups = WORLD_GROUPS } = options;
    const api = new TestApi();
    api.daemons = [];
    const settings = {
      access: { maxLoginAttempts: 999, blockSeconds: 1, maxRequestsPerMinute: 0 },
      experimentalFeatures: true,
    };
    await api.start(settings);
    await api.stop();
    addFiles(api, options);
    await addUsers(api, users);
    await api.open(settings);
    const db = await DbServer.start(api.home, () => api.now);
    await db.groups(...groups.filter((group) => group !== 'default'));
    await db.registry.edit((edit) => {
      for (const id of agents.filter((one) => one !== '000')) {
        const record = {
          ...sampleAgent(Number(id)).record,
          groups: [...(WORLD_AGENTS[id] ?? [])],
          status: 'active' as const,
        };
        edit.setKeepAlive(edit.setAgent(Number(id), record), 1_790_000_000 + Number(id));
      }
    });
    return new PermissionWorld(api, db, await RemotedServer.start(api.home));
  }

  /** A token of a user. */
  login(user: string): Promise<string> {
    return this.api.login(user, PASSWORD);
  }

  async stop(): Promise<void> {
    await this.api.stop();
    await this.remoted.stop();
    await this.db.stop();
    await this.api.remove();
  }
}

function addFiles(api: TestApi, options: WorldOptions): void {
  const { mode, cluster, groups = WORLD_GROUPS, files = FILE_NAMES } = options;
  const write = (path: string, text: string) => writeFileSync(api.home.path(path), text);
  const shared = [...new Set(['default', ...groups])].map((name) => `etc/shared/${name}`);
  for (const directory of ['etc/rules', 'etc/decoders', 'etc/lists', ...shared]) {
    mkdirSync(api.home.path(directory), { recursive: true });
  }
  for (const directory of shared) write(`${directory}/agent.conf`, '<agent_config/>');
  for (const name of files) {
    const index = FILE_NAMES.indexOf(name);
    write(
      `etc/rules/${name}_rules.xml`,
      `<group name="${name},"><rule id="10000${index}" level="${index + 1}"><match>${name}</match><group>pci_dss_${index},</group><description>${name}</description></rule></group>`,
    );
    write(
      `etc/decoders/${name}_decoders.xml`,
      `<decoder name="${name}"><program_name>${name}</program_name></decoder>`,
    );
    write(`etc/lists/${name}`, `${name}:1\n`);
  }
  write('etc/manager.conf', `<manager_config>${RULESET}${cluster ? CLUSTER : ''}</manager_config>`);
  write('api/configuration/security/security.yaml', `rbac_mode: ${mode}\n`);
}

async function addUsers(api: TestApi, users: readonly WorldUser[]): Promise<void> {
  const store = await RbacStore.open(api.home.path('api', 'configuration', 'security', 'rbac'), () => {
    throw new Error('the API has made no users');
  });
  const passwordHash = await new PasswordHasher(1, { N: 16, r: 1, p: 1 }).hash(PASSWORD, { address: 'test' });
  let nextPolicy = FIRST_OWN_ID;
  await store.commit(
    users.flatMap(({ name, roles, policies = [] }, index) => {
      const id = FIRST_OWN_ID + index;
      const own = policies.map((policy) => {
        const body = { actions: [...policy.actions], resources: [...policy.resources], effect: policy.effect };
        nextPolicy += 1;
        return { id: nextPolicy, name: `${name}-${nextPolicy}`, policy: body };
      });
      return [
        ...own.map((policy) => store.policies.put(policy)),
        store.roles.put({ id, name: `role-${name}`, policies: own.map((policy) => policy.id), rules: [] }),
        store.users.put({ id, name, allowRunAs: false, passwordHash, roles: roles === undefined ? [id] : [...roles] }),
      ];
    }),
  );
  await store.close();
}
