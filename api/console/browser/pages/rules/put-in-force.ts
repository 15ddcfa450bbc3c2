import type { ConsoleParts } from '../../client/console-context.js';
import { describe } from '../../client/notices.js';
import { TEXTS } from '../../texts.js';
import type { RulesetFile } from './ruleset-file.js';

const T = TEXTS.rules;

/**
 * Has the engine read the ruleset anew after a file was changed, and says what it said. Tests are not part of what it reads.
 * @param done what was done to the file
 */
export async function putInForce(
  { api, notices, session }: ConsoleParts,
  file: RulesetFile,
  done: string,
): Promise<void> {
  if (file.kind === 'tests') {
    notices.done(done);
    return;
  }
  if (!session.may('manager:restart')) {
    notices.done(`${done} ${T.mayNotReload}`);
    return;
  }
  try {
    const answer = await api.send<{ msg: string }>('PUT', '/manager/analysisd/reload', {
      params: { wait_for_complete: true },
    });
    notices.done(`${done} ${T.inForce} ${answer.affected_items.map(({ msg }) => msg).join(' ')}`);
  } catch (error) {
    // The change is stored whatever the engine says: the dialog behind it must not say otherwise.
    notices.failed(`${done} ${T.notInForce} ${describe(error)}`);
  }
}
