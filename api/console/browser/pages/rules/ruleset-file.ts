import type { Parameters } from '../../client/api-client.js';
import type { Failure } from '../../client/failure.js';
import type { Session } from '../../client/session.js';

/** What files hold. */
export const KINDS = ['rules', 'decoders', 'lists', 'tests'] as const;
export type Kind = (typeof KINDS)[number];

/** A file of the ruleset, below the installation. */
export type RulesetFile = {
  readonly kind: Kind;
  readonly folder: string;
  readonly name: string;
  readonly path: string;
};

type KindFacts = {
  /** Where the API has them. */
  readonly path: string;
  /** The action that it takes to write one. */
  readonly action: string;
  readonly extension: string;
  /** What a new one begins as. */
  readonly template: string;
};

const FACTS: Readonly<Record<Kind, KindFacts>> = {
  rules: {
    path: '/rules/files',
    action: 'rules',
    extension: '.xml',
    template: `<group name="local,">

  <rule id="100100" level="5">
    <if_sid>5760</if_sid>
    <srcip>192.0.2.0/24</srcip>
    <description>A login over SSH failed from the test network.</description>
  </rule>

</group>
`,
  },
  decoders: {
    path: '/decoders/files',
    action: 'decoders',
    extension: '.xml',
    template: `<decoder name="shop">
  <program_name>^shop$</program_name>
</decoder>
`,
  },
  lists: { path: '/lists/files', action: 'lists', extension: '', template: 'key:value\n' },
  tests: {
    path: '/rules/tests/files',
    action: 'rules',
    extension: '.yml',
    template: `- name: what it shows
  log: 'Nov 21 10:00:09 web1 sshd[77]: Failed password for alice from 192.0.2.44 port 5012 ssh2'
  expect: { rule: 100100, level: 5 }
`,
  },
};

export function factsOf(kind: Kind): KindFacts {
  return FACTS[kind];
}

/** Whether somebody may write files of a kind: to replace what is there takes the right to delete it as well. */
export function mayWrite(session: Pick<Session, 'may'>, kind: Kind): boolean {
  const { action } = FACTS[kind];
  return session.may(`${action}:update`) && session.may(`${action}:delete`);
}

/** The kind that a name stands for, rules where it is none. */
export function kindOf(name: string | null): Kind {
  return KINDS.find((kind) => kind === name) ?? 'rules';
}

/** Reads a path such as `etc/rules/local_rules.xml`; undefined for what is no file of a ruleset. */
export function readPath(path: string): RulesetFile | undefined {
  const [, folder = '', kind = '', name = ''] =
    /^((?:etc|ruleset)\/(rules|decoders|lists|tests)(?:\/.+)?)\/([^/]+)$/.exec(path) ?? [];
  return name === '' ? undefined : { kind: kindOf(kind), folder, name, path };
}

/** Whether it is the user's: shipped files cannot be changed, and lists below a folder of their own have no address. */
export function isOwn({ kind, folder }: RulesetFile): boolean {
  return kind === 'lists' ? folder === 'etc/lists' : folder.startsWith('etc/');
}

/** Its address at the API. */
export function addressOf({ kind, name }: RulesetFile): string {
  return `${FACTS[kind].path}/${encodeURIComponent(name)}`;
}

/** What is asked with it. */
export function placeOf({ kind, folder }: RulesetFile): Parameters {
  return kind === 'rules' || kind === 'decoders' ? { relative_dirname: folder } : {};
}

/** What is asked to have it as it is. */
export function rawOf(file: RulesetFile): Parameters {
  return file.kind === 'tests' ? {} : { raw: true, ...placeOf(file) };
}

/** Whether a new file may have this name. */
export function isName(kind: Kind, name: string): boolean {
  if (kind === 'lists') return /^[\p{L}\p{N}_-]+$/u.test(name);
  const extension = kind === 'tests' ? '(?:yml|yaml|ini)' : 'xml';
  return new RegExp(`^[\\p{L}\\p{N}_-]+\\.${extension}$`, 'u').test(name);
}

/** Something that is wrong with a file (rest-api.md 6.20). */
export type Message = {
  readonly severity: 'error' | 'warning';
  readonly text: string;
  readonly file?: string;
  readonly line?: number;
};

/** A problem at a line of a text; 0 is the whole of it. */
export type Problem = { readonly line: number; readonly text: string };

/** What is said of a file, by line. */
export function problemsIn(path: string, messages: readonly Message[]): Problem[] {
  return messages.filter(({ file }) => file === path).map(({ line = 0, text }) => ({ line, text }));
}

/** What is said of others, each with its place; warnings of those are no business of who changes this one. */
export function problemsElsewhere(path: string, messages: readonly Message[]): string[] {
  return messages
    .filter(({ file, severity }) => file !== path && severity === 'error')
    .map(({ file, line, text }) =>
      file === undefined ? text : `${file}${line === undefined ? '' : `:${String(line)}`}: ${text}`,
    );
}

/** The line that a refusal names: `(etc/rules/x.xml:12, rule 100100)`, or `line 12`. */
export function problemOf(path: string, failure: Pick<Failure, 'message'>): Problem {
  const escaped = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const [, line = '0'] =
    new RegExp(`${escaped}:(\\d+)`).exec(failure.message) ?? /\bline (\d+)/.exec(failure.message) ?? [];
  return { line: Number(line), text: failure.message };
}
