import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { sendInParts } from '../../client/send-in-parts.js';
import { tellFailed } from '../../client/tell-failed.js';
import { useGroupNames } from '../../client/use-groups.js';
import { Confirm } from '../../parts/dialog.js';
import { SelectField } from '../../parts/select-field.js';
import { TEXTS } from '../../texts.js';
import type { DeedProps } from './about-agents.js';

const T = TEXTS.agents;

const WAYS = [
  ['add', T.regroupAdd],
  ['only', T.regroupOnly],
  ['leave', T.regroupLeave],
] as const;

/** Puts agents into a group, or takes them out of it. */
export function RegroupDialog({ ids, what, onClose, onDone }: DeedProps) {
  const { api, notices } = useConsole();
  const [way, setWay] = useState('add');
  const names = useGroupNames();
  const [chosen, setChosen] = useState<string>();
  const group = chosen ?? names[0] ?? '';
  return (
    <Confirm
      title={T.regroupTitle(what)}
      action={T.regroup}
      isReady={group !== ''}
      onClose={onClose}
      onConfirm={async () => {
        const params = { group_id: group, ...(way === 'only' ? { force_single_group: true } : {}) };
        const method = way === 'leave' ? 'DELETE' : 'PUT';
        const result = await sendInParts(api, method, '/agents/group', ['agents_list', ids], params);
        notices.done(T.regrouped(result.total_affected_items, group));
        tellFailed(notices, result);
        onDone(false);
      }}
    >
      <SelectField label={T.regroupHow} value={way} options={WAYS} onChange={setWay} />
      <SelectField label={T.group} value={group} options={names.map((name) => [name, name])} onChange={setChosen} />
      <p class="hint">{T.regroupText}</p>
    </Confirm>
  );
}
