import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { sendInParts } from '../../client/send-in-parts.js';
import { tellFailed } from '../../client/tell-failed.js';
import { Confirm } from '../../parts/dialog.js';
import { TEXTS } from '../../texts.js';
import type { DeedProps } from './about-agents.js';

const T = TEXTS.agents;

/** Asks before agents are removed, and says what is lost. */
export function RemoveDialog({ ids, what, onClose, onDone }: DeedProps) {
  const { api, notices } = useConsole();
  const [purges, setPurges] = useState(false);
  return (
    <Confirm
      title={T.removeTitle(what)}
      action={T.remove}
      isDangerous
      onClose={onClose}
      onConfirm={async () => {
        // Those and no others, whatever their state and however long they have been away.
        const params = { status: 'all', older_than: '0s', purge: purges };
        const result = await sendInParts(api, 'DELETE', '/agents', ['agents_list', ids], params);
        notices.done(T.removed(result.total_affected_items));
        tellFailed(notices, result);
        onDone(true);
      }}
    >
      <p>{T.removeText}</p>
      <label class="check">
        <input type="checkbox" checked={purges} onChange={(event) => setPurges(event.currentTarget.checked)} />{' '}
        {T.purge}
      </label>
    </Confirm>
  );
}
