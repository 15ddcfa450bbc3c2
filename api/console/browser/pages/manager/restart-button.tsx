import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { Confirm } from '../../parts/dialog.js';
import { TEXTS } from '../../texts.js';

const T = TEXTS.manager;

/** Restarts the manager after a question; whoever may not is told so. */
export function RestartButton() {
  const { api, notices, session } = useConsole();
  const [isAsking, setAsking] = useState(false);
  const may = session.may('manager:restart');
  return (
    <>
      <button
        type="button"
        class="danger"
        disabled={!may}
        title={may ? undefined : T.mayNotRestart}
        onClick={() => setAsking(true)}
      >
        {T.restart}
      </button>
      {isAsking && (
        <Confirm
          title={T.restartTitle}
          action={T.restart}
          isDangerous
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await api.send('PUT', '/manager/restart');
            notices.done(T.restarting);
          }}
        >
          <p>{T.restartText}</p>
        </Confirm>
      )}
    </>
  );
}
