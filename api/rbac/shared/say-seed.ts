import { MAX_BUILT_IN_ID } from '../../../lib/cluster/access-records.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { ObjectKind } from '../access-decisions.js';
import type { AccessNews } from './access-codec.js';
import type { AccessSeed, OwnAccess } from './access-seed.js';

/** Names that one line of the log has. */
const MOST_NAMED = 50;
const WORDS: Readonly<Record<ObjectKind, string>> = {
  users: 'user',
  roles: 'role',
  policies: 'policy',
  rules: 'security rule',
};

export type SaidSeed = {
  readonly seed: AccessSeed;
  readonly own: OwnAccess;
  /** What the cluster had before. */
  readonly there: AccessNews;
};

/** Says what became of the users and permissions of a manager that has joined a cluster. @param now what is in force */
export function saySeed({ seed, own, there }: SaidSeed, now: AccessNews, logger: Pick<Logger, 'info' | 'warn'>): void {
  if (seed.isFirst) {
    logger.info('The users, roles, policies and rules of this manager are those of the cluster from now on.');
    return;
  }
  const { brought, moved, overruled, leftOut } = seed.merged;
  const added = brought.flatMap(({ kind, object }) =>
    object === undefined ? [] : [`${WORDS[kind]} '${object.name}'`],
  );
  if (added.length > 0) logger.info(`The cluster has from this manager: ${list(added)}.`);
  const warn = (text: string, names: readonly string[]): void => {
    if (names.length > 0) logger.warn(`${text}: ${list(names)}.`);
  };
  const word = ({ kind, name }: { readonly kind: ObjectKind; readonly name: string }): string =>
    `${WORDS[kind]} '${name}'`;
  const builtIn = builtInNames(own);
  const isPassword = ({ kind, name }: { readonly kind: ObjectKind; readonly name: string }): boolean =>
    kind === 'users' && builtIn.has(name);
  warn(
    'The passwords and run_as of these users are those of the cluster from now on, not those they had here',
    overruled.filter(isPassword).map(word),
  );
  warn(
    'The cluster has others of these names; its own hold, and what is linked to them here is linked to those',
    overruled.filter((one) => !isPassword(one)).map(word),
  );
  warn(
    'These have other ids in the cluster than they had here',
    moved.map(({ kind, name, from, to }) => `${word({ kind, name })} ${to} (was ${from})`),
  );
  warn('These are not taken over, since the cluster has no room for more, or not for any so large', leftOut.map(word));
  warn(
    'Policies from this manager name agents by their ids: see whether these are the same agents in the cluster',
    brought.flatMap(({ kind, object }) =>
      kind === 'policies' && object !== undefined && object.policy.resources.some(namesAgent)
        ? [`'${object.name}'`]
        : [],
    ),
  );
  if (there.settings !== undefined && JSON.stringify(there.settings) !== JSON.stringify(own.settings)) {
    logger.warn('The lifetime of tokens and rbac_mode are those of the cluster from now on.');
  }
  if (now.tokenKeys !== undefined && now.tokenKeys.publicKey.trim() !== own.tokenKeys.publicKey.trim()) {
    logger.warn('All tokens that this manager has given have ended: the cluster signs with its own key.');
  }
}

function builtInNames({ objects }: OwnAccess): ReadonlySet<string> {
  return new Set(objects.users.filter(({ id }) => id <= MAX_BUILT_IN_ID).map(({ name }) => name));
}

function namesAgent(resource: string): boolean {
  return /(^|&)agent:id:\d/.test(resource);
}

function list(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return names.slice(0, MOST_NAMED).join(', ') + more;
}
