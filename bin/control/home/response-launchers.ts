import { existsSync, readSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NotRegularFileError, withRegularFileSync } from '../../../lib/files/regular-file.js';
import { writeFileAtomically } from '../../../lib/files/write-file-atomically.js';
import type { Home } from '../../../lib/home/home.js';
import { productRoot } from '../../../lib/product/product-root.js';
import type { HomeFileOwner } from './make-file.js';

/** Responses that come with the product (daemons-and-config.md 5.4); `daemons/execd/scripts/respond.ts` knows them by these names. */
const RESPONSES = [
  ...['firewall-drop', 'default-firewall-drop', 'host-deny', 'route-null', 'disable-account'],
  ...['restart-manager', 'restart-wazuh'],
];

const DIRECTORY = 'active-response/bin';
const FILE_MODE = 0o750;

/** By this a file is known as ours: others of the same name, of 4.x say, stay as they are. */
const MARK =
  '#!/bin/sh\n# An active response of the Security Manager, made by svc-control: changes are lost with the next update.\n';

/** What our responses run; the build finds it by the way it is written. */
const PROGRAM = new URL('../../../daemons/execd/scripts/response-process.js', import.meta.url);

/**
 * Makes the files of our responses in active-response/bin, and brings those up to date that are ours.
 * @param product where the product will be: the files name it
 * @returns paths below the home that were made or changed
 * @throws the file system's error
 */
export function makeResponses(home: Home, product: string, owner: HomeFileOwner | undefined): string[] {
  const program = join(product, relative(fileURLToPath(productRoot()), fileURLToPath(PROGRAM)));
  const text = launcherText(process.execPath, program);
  return RESPONSES.map((name) => `${DIRECTORY}/${name}`).filter((path) => {
    const absolute = home.path(path);
    if (existsSync(absolute) && !isStale(absolute, text)) return false;
    writeFileAtomically(absolute, text, { mode: FILE_MODE, ...(owner === undefined ? {} : { owner }) });
    return true;
  });
}

/** A shell starts it and is replaced at once; what it is given is its own path alone. */
export function launcherText(node: string, program: string): string {
  return `${MARK}exec ${quoted(node)} ${quoted(program)} "$0"\n`;
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/** Whether a file is ours and says something else. */
function isStale(path: string, text: string): boolean {
  const bytes = Buffer.alloc(Buffer.byteLength(text) + 1024);
  try {
    const there = withRegularFileSync(path, (fd) => bytes.toString('utf8', 0, readSync(fd, bytes)));
    return there.startsWith(MARK) && there !== text;
  } catch (error) {
    if (error instanceof NotRegularFileError) return false;
    throw error;
  }
}
