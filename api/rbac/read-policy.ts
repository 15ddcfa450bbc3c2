import { ApiError } from '../http/api-error.js';
import type { PolicyBody } from './rbac-model.js';

/** A policy as a client writes it. */
export type PolicyDraft = {
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly effect: string;
};

const ACTION = /^[a-z_-]+:[a-z_-]+$/;
/** Type, attribute and value; a file name or a group is a value. */
const RESOURCE = /^(?:[a-z_-]+:[a-z_-]+|\*:\*):(?:[\w.%/-]+|\*)$/;
/** Actions and resources of a policy: each of the one is allowed or denied on each of the others. */
const MOST_OF_EACH = 1000;
/** Characters of an action or a resource. */
const MOST_CHARACTERS = 512;

/**
 * Reads a policy; actions, types of resources and the effect are lower-cased (rest-api.md 6.9).
 * @throws ApiError 4006, which names what is wrong
 */
export function readPolicy({ actions, resources, effect }: PolicyDraft): PolicyBody {
  const lowerEffect = effect.toLowerCase();
  if (lowerEffect !== 'allow' && lowerEffect !== 'deny') throw invalid(`effect '${effect}'`);
  for (const [name, list] of Object.entries({ actions, resources })) {
    if (list.length === 0 || list.length > MOST_OF_EACH) throw invalid(`${name} has ${list.length} elements`);
    const long = list.find(({ length }) => length > MOST_CHARACTERS);
    if (long !== undefined) throw invalid(`${name} has one of ${long.length} characters`);
  }
  return { actions: actions.map(readAction), resources: resources.map(readResource), effect: lowerEffect };
}

/** Whether two policies say the same in the same order. */
export function samePolicy(left: PolicyBody, right: PolicyBody): boolean {
  const sameList = (a: readonly string[], b: readonly string[]) =>
    a.length === b.length && a.every((text, index) => text === b[index]);
  return (
    left.effect === right.effect && sameList(left.actions, right.actions) && sameList(left.resources, right.resources)
  );
}

function readAction(action: string): string {
  const lower = action.toLowerCase();
  if (!ACTION.test(lower)) throw invalid(`action '${action}'`);
  return lower;
}

/** Values stay as they are written: names of files and groups have both cases. */
function readResource(resource: string): string {
  return resource
    .split('&')
    .map((one) => {
      const [type = '', attribute = '', ...value] = one.split(':');
      const lower = `${type.toLowerCase()}:${attribute.toLowerCase()}:${value.join(':')}`;
      if (!RESOURCE.test(lower)) throw invalid(`resource '${resource}'`);
      return lower;
    })
    .join('&');
}

function invalid(what: string): ApiError {
  return new ApiError(4006, { extra: what });
}
