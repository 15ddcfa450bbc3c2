import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { tellFailed } from '../../client/tell-failed.js';
import { Confirm } from '../../parts/dialog.js';
import { TEXTS } from '../../texts.js';

const T = TEXTS.agents;

/** Restarts every connected agent of a group. */
export function RestartGroup({ name, members }: { readonly name: string; readonly members: number }) {
  const { api, notices } = useConsole();
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        {T.restart}
      </button>
      {isAsking && (
        <Confirm
          title={T.restartTitle(T.many(members))}
          action={T.restart}
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            const result = await api.send('PUT', `/agents/group/${encodeURIComponent(name)}/restart`);
            notices.done(T.restarted(result.total_affected_items));
            tellFailed(notices, result);
          }}
        >
          <p>{T.restartText}</p>
        </Confirm>
      )}
    </>
  );
}
