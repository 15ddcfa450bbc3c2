import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { useGroupNames } from '../../client/use-groups.js';
import { useQuery } from '../../client/use-query.js';
import { Field } from '../../parts/field.js';
import { Card, Page } from '../../parts/page.js';
import { CopyButton } from '../../parts/small.js';
import { TEXTS } from '../../texts.js';
import { Arrivals } from './arrivals.js';
import {
  type Enrolment,
  hostOf,
  isAgentName,
  isHost,
  ownCommands,
  readSettings,
  wazuhCommands,
} from './enrol-commands.js';

const T = TEXTS.enrol;

/** How a host becomes an agent: commands to copy, and who has come since. */
export function EnrolPage() {
  const { session } = useConsole();
  const mayRead = session.may('manager:read');
  const settings = useQuery(mayRead ? 'enrolment' : undefined, async (api, signal) => {
    const [auth, remote] = await Promise.all([
      api.get<object>('/manager/configuration/auth/auth', {}, signal),
      api.get<object>('/manager/configuration/request/remote', {}, signal),
    ]);
    return readSettings(auth, remote);
  });
  const known = settings.data ?? readSettings(undefined, undefined);
  const [host, setHost] = useState(hostOf(location.hostname));
  const [name, setName] = useState('');
  const [groups, setGroups] = useState<readonly string[]>([]);
  const isRight = isHost(host) && (name === '' || isAgentName(name));
  const enrolment: Enrolment = { host, name, groups, ...known };
  return (
    <Page title={T.title}>
      <p>{T.intro}</p>
      <Card title={T.what}>
        <form class="row filters" onSubmit={(event) => event.preventDefault()}>
          <Field label={T.host} hint={T.hostHint} error={isHost(host) ? undefined : T.badHost}>
            {(attributes) => (
              <input {...attributes} value={host} onInput={(event) => setHost(event.currentTarget.value.trim())} />
            )}
          </Field>
          <Field label={T.name} hint={T.nameHint} error={name === '' || isAgentName(name) ? undefined : T.badName}>
            {(attributes) => (
              <input {...attributes} value={name} onInput={(event) => setName(event.currentTarget.value.trim())} />
            )}
          </Field>
          <GroupChoice chosen={groups} onChange={setGroups} />
        </form>
      </Card>
      {(!mayRead || settings.error !== undefined) && <p class="hint">{T.unknown}</p>}
      {known.isOff && <p class="failed">{T.disabled}</p>}
      {known.needsPassword && <p>{T.password}</p>}
      {known.needsCertificate && <p>{T.certificate}</p>}
      {isRight && (
        <div class="grid">
          <Commands title={T.own} hint={T.ownHint} text={ownCommands(enrolment)} />
          <Commands title={T.wazuh} hint={T.wazuhHint} text={wazuhCommands(enrolment)} />
        </div>
      )}
      <Arrivals />
    </Page>
  );
}

function Commands({ title, hint, text }: { readonly title: string; readonly hint: string; readonly text: string }) {
  return (
    <Card wide title={title} actions={<CopyButton text={text} />}>
      <p class="hint">{hint}</p>
      <pre class="code commands" role="region" aria-label={`${T.command}: ${title}`} tabIndex={0}>
        {text}
      </pre>
    </Card>
  );
}

type GroupChoiceProps = { readonly chosen: readonly string[]; readonly onChange: (chosen: readonly string[]) => void };

/** Groups in the order in which they are chosen: the last one has the last word. */
function GroupChoice({ chosen, onChange }: GroupChoiceProps) {
  const names = useGroupNames();
  if (names.length === 0) return null;
  return (
    <fieldset class="choices">
      <legend>{T.groups}</legend>
      {names.map((name) => (
        <label class="check" key={name}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={(event) =>
              onChange(event.currentTarget.checked ? [...chosen, name] : chosen.filter((each) => each !== name))
            }
          />{' '}
          {name}
        </label>
      ))}
    </fieldset>
  );
}
