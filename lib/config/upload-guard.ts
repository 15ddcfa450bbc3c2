import type { XmlElement } from '../xml/xml-element.js';
import type { ApiConfig } from './api-config.js';
import { parseManagerConfig } from './load-manager-config.js';
import type { ManagerConfig } from './manager-config.js';
import { readConfigurationXml } from './read-configuration-xml.js';

/** Why an uploaded configuration is not taken: a code of the API (daemons-and-config.md 1.5), and what it is about. */
export type UploadRefusal = { readonly code: 1124 | 1127 | 1129 | 1131; readonly text: string };

const READ = ['localfile', 'socket', 'syscheck', 'wodle', 'remote', 'auth', 'integration'] as const;
type Read = ManagerConfig<(typeof READ)[number]>;

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
  find: (config: Read) => string[],
  wanted: Read,
  known: Read | undefined,
  exceptions: readonly string[],
): UploadRefusal | undefined {
  const allowed = new Set(known === undefined ? [] : find(known));
  // Texts of api.yaml are lower-cased when it is read (rest-api.md 1.3).
  const found = find(wanted).find((text) => !allowed.has(text) && !exceptions.includes(text.toLowerCase()));
  return found === undefined ? undefined : { code, text: code === 1131 ? 'integration virustotal' : found };
}

function fileCommands({ localfile }: Read): string[] {
  return localfile.map(({ command }) => command).filter((command) => command !== '');
}

function otherOrders({ socket, syscheck }: Read): string[] {
  const prefilter = syscheck?.prefilter_cmd;
  return [...socket.map(({ location }) => location), ...(prefilter === undefined ? [] : [prefilter])];
}

/**
 * A file that root would read out to the service user, in lines or in differences: /etc/shadow must not become events. A
 * directory counts as known only with the very options and `<nodiff>` that it has now.
 */
function newContent(wanted: Read, known: Read | undefined, exceptions: readonly string[]): UploadRefusal | undefined {
  const now = new Set(known === undefined ? [] : contents(known).map(({ key }) => key));
  const found = contents(wanted).find(({ key, path }) => !now.has(key) && !isBelow(path, exceptions));
  return found === undefined ? undefined : { code: 1127, text: `${found.section} ${found.path}` };
}

type Content = { readonly section: string; readonly path: string; readonly key: string };

function contents({ localfile, syscheck }: Read): Content[] {
  const followed = localfile
    .filter(({ location, log_format: format }) => location !== '' && format.name !== 'journald')
    .map(({ location }) => ({ section: 'localfile', path: location, key: `localfile ${location}` }));
  const compared = (syscheck?.directories ?? [])
    .filter(({ options }) => options.some(({ name, value }) => name === 'report_changes' && value))
    .map(({ path, options }) => ({
      section: 'report_changes',
      path,
      key: JSON.stringify([path, options, syscheck?.nodiff]),
    }));
  return [...followed, ...compared];
}

/** Whether an absolute path, patterns included, stays below one of the directories. */
function isBelow(path: string, directories: readonly string[]): boolean {
  if (path.split('/').includes('..')) return false;
  // Texts of api.yaml are lower-cased when it is read (rest-api.md 1.3).
  return directories.some((directory) => path.toLowerCase().startsWith(directory.replace(/\/*$/, '/')));
}

function wodleCommands({ wodle }: Read): string[] {
  return wodle.command.map(({ command }) => command);
}

function virusTotalKeys({ integration }: Read): string[] {
  return integration.flatMap(({ name, api_key: key }) => (name === 'virustotal' && key !== undefined ? [key] : []));
}

function higherVersions({ remote, auth }: Read): UploadRefusal | undefined {
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
