import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { PROGRAM_PATH } from './process-group.js';

/** Whole path of a program: as it is given, from the home, or where the system has its programs. @throws Error */
export function findProgram(name: string, home: string): string {
  if (isAbsolute(name)) return name;
  if (name.includes('/')) return resolve(home, name);
  const found = PROGRAM_PATH.split(':')
    .map((directory) => join(directory, name))
    .find(isProgram);
  if (found === undefined) throw new Error(`there is no program '${name}' in ${PROGRAM_PATH}`);
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
