import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { useQuery } from '../../client/use-query.js';
import { CodeView } from '../../parts/code-view.js';
import { Confirm } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Loaded } from '../../parts/loaded.js';
import { Missing } from '../../parts/missing.js';
import { Card } from '../../parts/page.js';
import { SelectField } from '../../parts/select-field.js';
import { TEXTS } from '../../texts.js';
import { MayButton } from './may-button.js';
import { useScope } from './scope.js';

const T = TEXTS.manager;

type SessionSettings = { readonly auth_token_exp_timeout: number; readonly rbac_mode: 'white' | 'black' };

/** How the API works: its sessions, and what api.yaml says. */
export function ApiTab() {
  const sessions = useQuery('security config', (api, signal) =>
    api.get<SessionSettings>('/security/config', {}, signal),
  );
  const { node, some } = useScope();
  const config = useQuery(`api config ${node ?? ''}`, (api, signal) =>
    api.list<{ node_name: string; node_api_config: object }>(...some('api/config'), signal),
  );
  return (
    <>
      <Card title={T.sessions}>
        <Loaded query={sessions}>{(settings) => <Sessions settings={settings} />}</Loaded>
      </Card>
      <Card title={T.apiSettings}>
        <Loaded query={config}>
          {({ affected_items: items, failed_items: failed }) => (
            <>
              <Missing failed={failed} />
              {items.map(({ node_name: name, node_api_config: settings }) => (
                <CodeView key={name} label={name} text={JSON.stringify(settings, null, 2)} />
              ))}
            </>
          )}
        </Loaded>
      </Card>
    </>
  );
}

function Sessions({ settings }: { readonly settings: SessionSettings }) {
  const { api, notices } = useConsole();
  const [seconds, setSeconds] = useState(String(settings.auth_token_exp_timeout));
  const [mode, setMode] = useState<string>(settings.rbac_mode);
  const [isAsking, setAsking] = useState(false);
  const isSame = Number(seconds) === settings.auth_token_exp_timeout && mode === settings.rbac_mode;
  return (
    <div class="stack">
      <div class="row">
        <Field label={T.tokenSeconds} hint={T.tokenHint}>
          {(attributes) => (
            <input
              {...attributes}
              type="number"
              min={30}
              value={seconds}
              onInput={(event) => setSeconds(event.currentTarget.value)}
            />
          )}
        </Field>
        <SelectField label={T.rbacMode} value={mode} options={Object.entries(T.modes)} onChange={setMode} />
        <MayButton
          label={T.change}
          action="security:update_config"
          reason={isSame ? TEXTS.common.noDifference : undefined}
          onClick={() => setAsking(true)}
        />
      </div>
      {isAsking && (
        <Confirm
          title={T.settingsTitle}
          action={T.change}
          isDangerous
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await api.exchange('PUT', '/security/config', {
              json: { auth_token_exp_timeout: Number(seconds), rbac_mode: mode },
            });
            notices.done(T.settingsSaved);
          }}
        >
          <p>{T.settingsText}</p>
        </Confirm>
      )}
    </div>
  );
}
