import type { XmlElement } from '../xml/xml-element.js';
import type { ApiConfig } from './api-config.js';
import { parseManagerConfig } from './load-manager-config.js';
import type { ManagerConfig } from './manager-config.js';
import { readConfigurationXml } from './read-configuration-xml.js';
import type { SyscheckDirectory } from './sections/syscheck.js';

/** Why an uploaded configuration is not taken: a code of the API (daemons-and-config.md 1.5), and what it is about. */
export type UploadRefusal = { readonly code: 1124 | 1127 | 1129 | 1131; readonly text: string };

const READ = ['localfile', 'socket', 'syscheck', 'rootcheck', 'wodle', 'remote', 'auth', 'integration'] as const;
type GuardedSections = ManagerConfig<(typeof READ)[number]>;

/**
 * Holds an uploaded main configuration against `upload_configuration` of api.yaml. What is not allowed may still stand in
 * it where the configuration in force has it already: whoever reads it, changes a line and sends it back is not refused.
 * Where remote commands are not allowed, neither are the other settings that have root act for whoever wrote them:
 * `prefilter_cmd`, and the sockets that log lines are written to. `file_contents` is our own: what root reads out of files.
 * @param next a configuration that can be read
 * @param current the one in force, where it can be read
 * @param file name in errors
 * @returns undefined when it may be taken
 * @throws ConfigError for a configuration that cannot be read
 */
export function refuseUpload(
  next: string,
  current: string | undefined,
  file: string,
  limits: ApiConfig['upload_configuration'],
): UploadRefusal | undefined {
  const wanted = parseManagerConfig(next, file, READ);
  const known = current === undefined ? undefined : parseManagerConfig(current, file, READ);
  const { localfile, wodle_command: wodle } = limits.remote_commands;
  const checks = [
    () => (localfile.allow ? undefined : newOne(1124, fileCommands, wanted, known, localfile.exceptions)),
    () => (localfile.allow ? undefined : newOne(1124, otherOrders, wanted, known, [])),
    () => (wodle.allow ? undefined : newOne(1124, wodleCommands, wanted, known, wodle.exceptions)),
    () => (limits.file_contents.allow ? undefined : newContent(wanted, known, limits.file_contents.exceptions)),
    () =>
      limits.limits.eps.allow ? undefined : changed('limits/eps', ['global', 'limits', 'eps'], next, current, file),
    () => (limits.agents.allow_higher_versions.allow ? undefined : higherVersions(wanted)),
    () =>
      limits.integrations.virustotal.public_key.allow ? undefined : newOne(1131, virusTotalKeys, wanted, known, []),
    () => (limits.indexer.allow ? undefined : changed('indexer', ['indexer'], next, current, file)),
  ];
  for (const check of checks) {
    const refusal = check();
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** The first thing that the configuration in force does not have, and that is no exception. */
function newOne(
  code: 1124 | 1131,
  find: (config: GuardedSections) => string[],
  wanted: GuardedSections,
  known: GuardedSections | undefined,
  exceptions: readonly string[],
): UploadRefusal | undefined {
  const allowed = new Set(known === undefined ? [] : find(known));
  // Texts of api.yaml are lower-cased when it is read (rest-api.md 1.3).
  const found = find(wanted).find((text) => !allowed.has(text) && !exceptions.includes(text.toLowerCase()));
  return found === undefined ? undefined : { code, text: code === 1131 ? 'integration virustotal' : found };
}

function fileCommands({ localfile }: GuardedSections): string[] {
  return localfile.map(({ command }) => command).filter((command) => command !== '');
}

function otherOrders({ socket, syscheck }: GuardedSections): string[] {
  const prefilter = syscheck?.prefilter_cmd;
  return [...socket.map(({ location }) => location), ...(prefilter === undefined ? [] : [prefilter])];
}

/**
 * A file that root would read out to the service user, in lines or in differences: /etc/shadow must not become events. A
 * directory counts as known only with the very options that it has now, and while all stays left out that is. A list of
 * rootcheck asks what is in files, and one that the service user wrote asks for a secret letter by letter.
 */
function newContent(
  wanted: GuardedSections,
  known: GuardedSections | undefined,
  exceptions: readonly string[],
): UploadRefusal | undefined {
  const now = known === undefined ? [] : contents(known);
  const out = new Set(leftOut(wanted));
  const compares = known === undefined || leftOut(known).every((text) => out.has(text));
  const keys = new Set(now.filter(({ section }) => section !== COMPARED || compares).map(({ key }) => key));
  const found = contents(wanted).find(({ key, path }) => !keys.has(key) && !isBelow(path, exceptions));
  return found === undefined ? undefined : { code: 1127, text: `${found.section} ${found.path}` };
}

type Content = { readonly section: string; readonly path: string; readonly key: string };

const COMPARED = 'report_changes';

function contents({ localfile, syscheck, rootcheck }: GuardedSections): Content[] {
  const content = (section: string, path: string, options: unknown = []) => ({
    section,
    path,
    key: JSON.stringify([section, path, options]),
  });
  const followed = localfile
    .filter(({ location, log_format: format }) => location !== '' && format.name !== 'journald')
    .map(({ location }) => content('localfile', location));
  const compared = (syscheck?.directories ?? [])
    .filter(isCompared)
    .map(({ path, options }) => content(COMPARED, path, options));
  const { rootkit_files: files, rootkit_trojans: trojans, system_audit: audits = [] } = rootcheck ?? {};
  return [
    ...followed,
    ...compared,
    ...(files === undefined ? [] : [content('rootkit_files', files)]),
    ...(trojans === undefined ? [] : [content('rootkit_trojans', trojans)]),
    ...audits.map((path) => content('system_audit', path)),
  ];
}

/** What has no differences: the files and directories excepted, and directories with an entry of their own. */
function leftOut({ syscheck }: GuardedSections): string[] {
  if (syscheck === undefined) return [];
  const { nodiff, diff, ignore, directories } = syscheck;
  return [
    ...[...nodiff, ...diff.nodiff].map((excepted) => JSON.stringify(['nodiff', excepted])),
    ...ignore.map((excepted) => JSON.stringify(['ignore', excepted])),
    ...directories.filter((entry) => !isCompared(entry)).map(({ path }) => JSON.stringify(['directories', path])),
  ];
}

function isCompared({ options }: SyscheckDirectory): boolean {
  return options.some(({ name, value }) => name === COMPARED && value === true);
}

/** Whether an absolute path, patterns included, is one of the directories or stays below it. */
function isBelow(path: string, directories: readonly string[]): boolean {
  if (path.split('/').includes('..')) return false;
  // Texts of api.yaml are lower-cased when it is read (rest-api.md 1.3).
  return directories.some((directory) => `${path.toLowerCase()}/`.startsWith(directory.replace(/\/*$/, '/')));
}

function wodleCommands({ wodle }: GuardedSections): string[] {
  return wodle.command.map(({ command }) => command);
}

function virusTotalKeys({ integration }: GuardedSections): string[] {
  return integration.flatMap(({ name, api_key: key }) => (name === 'virustotal' && key !== undefined ? [key] : []));
}

function higherVersions({ remote, auth }: GuardedSections): UploadRefusal | undefined {
  const asked = [...remote, ...(auth === undefined ? [] : [auth])].some(({ agents }) => agents.allow_higher_versions);
  return asked ? { code: 1129, text: 'agents/allow_higher_versions' } : undefined;
}

/** Whether what stands at a path of elements is another than now. */
function changed(
  name: string,
  path: readonly string[],
  next: string,
  current: string | undefined,
  file: string,
): UploadRefusal | undefined {
  const shape = (text: string | undefined) =>
    JSON.stringify(text === undefined ? [] : elementsAt(readConfigurationXml(text, file), path).map(shapeOf));
  return shape(next) === shape(current) ? undefined : { code: 1127, text: name };
}

function elementsAt(roots: readonly XmlElement[], path: readonly string[]): readonly XmlElement[] {
  return path.reduce<readonly XmlElement[]>(
    (elements, name) => elements.flatMap(({ children }) => children.filter((child) => child.name === name)),
    roots,
  );
}

function shapeOf({ name, attributes, content, children }: XmlElement): unknown {
  return [
    name,
    attributes.map((attribute) => [attribute.name, attribute.value]),
    content.trim(),
    children.map(shapeOf),
  ];
}
