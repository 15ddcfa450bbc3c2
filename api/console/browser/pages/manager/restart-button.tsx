import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { Confirm } from '../../parts/dialog.js';
import { TEXTS } from '../../texts.js';
import { useScope } from './scope.js';

const T = TEXTS.manager;

/** Restarts the manager after a question; whoever may not is told so. */
export function RestartButton() {
  const { api, notices, session } = useConsole();
  const [isAsking, setAsking] = useState(false);
  const { node, some, action } = useScope();
  const may = session.may(action('restart'));
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
          title={node === undefined ? T.restartTitle : T.restartNodeTitle(node)}
          action={T.restart}
          isDangerous
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            const [path, params] = some('restart');
            await api.send('PUT', path, { params });
            if (node !== undefined) {
              // The server of this page may be another one, which does not go away.
              notices.done(T.nodeRestarting(node));
              return;
            }
            notices.done(T.restarting);
            void untilBack().then((isBack) => {
              if (isBack) notices.done(T.restarted);
              else notices.failed(new Error(T.notBack));
            });
          }}
        >
          <p>{node === undefined ? T.restartText : T.restartNodeText}</p>
        </Confirm>
      )}
    </>
  );
}

/** Milliseconds between two looks at a server that restarts, and how long it may take. */
const LOOK_MS = 500;
const PATIENCE_MS = 120_000;

/** Looks whether the server has gone and come back; any answer of it will do. @returns whether it has */
async function untilBack(): Promise<boolean> {
  let wasAway = false;
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
    const isThere = await fetch('/openapi.json', { method: 'HEAD' }).then(
      () => true,
      () => false,
    );
    if (isThere && wasAway) return true;
    wasAway ||= !isThere;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return false;
}
