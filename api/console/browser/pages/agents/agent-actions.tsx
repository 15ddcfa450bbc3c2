import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { TEXTS } from '../../texts.js';
import type { AboutAgents } from './about-agents.js';
import { RegroupDialog } from './regroup-dialog.js';
import { RemoveDialog } from './remove-dialog.js';
import { RestartDialog } from './restart-dialog.js';

const T = TEXTS.agents;

type Deed = 'restart' | 'regroup' | 'remove';

/** What can be done to agents, one or many: what the user may not do is left out. */
export function DeedButtons({ ids, what, onDone }: AboutAgents) {
  const { session } = useConsole();
  const [deed, setDeed] = useState<Deed>();
  const close = () => setDeed(undefined);
  const about = { ids, what, onClose: close, onDone };
  return (
    <>
      {session.may('agent:restart') && (
        <button type="button" onClick={() => setDeed('restart')}>
          {T.restart}
        </button>
      )}
      {session.may('agent:modify_group') && session.may('group:modify_assignments') && (
        <button type="button" onClick={() => setDeed('regroup')}>
          {T.regroup}
        </button>
      )}
      {session.may('agent:delete') && (
        <button type="button" class="danger" onClick={() => setDeed('remove')}>
          {T.remove}
        </button>
      )}
      {deed === 'restart' && <RestartDialog {...about} />}
      {deed === 'regroup' && <RegroupDialog {...about} />}
      {deed === 'remove' && <RemoveDialog {...about} />}
    </>
  );
}

type AgentActionsProps = Pick<AboutAgents, 'ids' | 'onDone'> & { readonly onUnselect: () => void };

/** What can be done to the agents that are selected in a list. */
export function AgentActions({ ids, onUnselect, onDone }: AgentActionsProps) {
  return (
    <div class="selection" role="group" aria-label={T.actions}>
      <span role="status">{T.selected(ids.length)}</span>
      <span class="actions">
        <button type="button" class="quiet" onClick={onUnselect}>
          {T.unselect}
        </button>
        <DeedButtons ids={ids} what={T.many(ids.length)} onDone={onDone} />
      </span>
    </div>
  );
}
