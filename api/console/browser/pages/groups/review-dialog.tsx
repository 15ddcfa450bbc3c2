import { onlyItem } from '../../client/api-client.js';
import { useConsole } from '../../client/console-context.js';
import type { Group } from '../../client/use-groups.js';
import { useQuery } from '../../client/use-query.js';
import { Confirm } from '../../parts/dialog.js';
import { DiffView } from '../../parts/diff-view.js';
import { Loaded } from '../../parts/loaded.js';
import { TEXTS } from '../../texts.js';
import { fileOf, pathOf } from './validation.js';

const T = TEXTS.groups;

type ReviewDialogProps = {
  readonly name: string;
  readonly members: number;
  /** What was there when somebody began to type. */
  readonly known: string;
  readonly text: string;
  /** The text as it is stored. */
  readonly laidOut: string;
  readonly onClose: () => void;
  /** Told the sum of the files before, which becomes another one when they are packed; undefined when nothing changes. */
  readonly onSaved: (oldSum: string | undefined) => void;
};

/** What changes against what is there at this moment, before it goes out to agents. */
export function ReviewDialog({ name, members, known, text, laidOut, onClose, onSaved }: ReviewDialogProps) {
  const { api, notices } = useConsole();
  const current = useQuery(`agent-conf-now ${name}`, async (client, signal) => {
    const [now, groups] = await Promise.all([
      client.text(fileOf(name), { raw: true }, signal),
      client.list<Group>('/groups', { groups_list: name }, signal),
    ]);
    return { now, sum: onlyItem(groups)?.mergedSum };
  });
  return (
    <Confirm
      wide
      title={T.reviewTitle}
      action={T.save}
      isReady={current.data !== undefined && !current.isLoading}
      onClose={onClose}
      onConfirm={async () => {
        await api.send('PUT', pathOf(name), { xml: text });
        notices.done(T.saved);
        onSaved(current.data?.now === laidOut ? undefined : current.data?.sum);
      }}
    >
      <Loaded query={current}>
        {({ now }) => (
          <>
            {now !== known && <p class="failed">{T.changedMeanwhile}</p>}
            <DiffView label={T.reviewTitle} before={now} after={laidOut} />
          </>
        )}
      </Loaded>
      {text !== laidOut && <p class="hint">{T.laidOut}</p>}
      <p>{T.reviewText(members)}</p>
    </Confirm>
  );
}
