import { useConsole } from '../../client/console-context.js';
import { sendInParts } from '../../client/send-in-parts.js';
import { tellFailed } from '../../client/tell-failed.js';
import { Confirm } from '../../parts/dialog.js';
import { TEXTS } from '../../texts.js';
import type { DeedProps } from './about-agents.js';

const T = TEXTS.agents;

/** Asks before agents are restarted. */
export function RestartDialog({ ids, what, onClose, onDone }: DeedProps) {
  const { api, notices } = useConsole();
  return (
    <Confirm
      title={T.restartTitle(what)}
      action={T.restart}
      onClose={onClose}
      onConfirm={async () => {
        const result = await sendInParts(api, 'PUT', '/agents/restart', ['agents_list', ids]);
        notices.done(T.restarted(result.total_affected_items));
        tellFailed(notices, result);
        onDone(false);
      }}
    >
      <p>{T.restartText}</p>
    </Confirm>
  );
}
