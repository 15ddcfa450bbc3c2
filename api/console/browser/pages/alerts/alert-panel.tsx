import { useEffect, useRef } from 'preact/hooks';
import type { Alert, AlertList } from '../../client/alerts.js';
import { useQuery } from '../../client/use-query.js';
import { Loaded } from '../../parts/loaded.js';
import { CopyButton, LevelBadge } from '../../parts/small.js';
import { type Tab, Tabs } from '../../parts/tabs.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { AroundTab } from './around-tab.js';
import { ExplainTab } from './explain-tab.js';
import { RuleTab } from './rule-tab.js';
import { ValuesTab } from './values-tab.js';

/** One alert with what belongs to it, beside the list; where there is little room, in its place. */
export function AlertPanel({ id }: { readonly id: string }) {
  const [, change] = useParams();
  const heading = useRef<HTMLHeadingElement>(null);
  const query = useQuery(`alert ${id}`, (api, signal) =>
    api.get<AlertList>(`/alerts/${encodeURIComponent(id)}`, {}, signal),
  );
  const alert = query.data?.affected_items[0];
  const latest = useRef(id);
  latest.current = id;
  const isThere = alert !== undefined;
  // Its title is read out when there is one.
  useEffect(() => {
    if (isThere) heading.current?.focus();
  }, [id, isThere]);
  // When it is closed the focus goes to where it was opened; where there is little room the list comes back first.
  useEffect(
    () => () =>
      void setTimeout(() =>
        document.querySelector<HTMLElement>(`.list [data-alert="${CSS.escape(latest.current)}"]`)?.focus(),
      ),
    [],
  );
  const close = () => change({ alert: undefined, view: undefined });
  return (
    <section
      class="card panel"
      aria-label={TEXTS.alerts.one}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close();
      }}
    >
      <header class="card-head">
        <h2 ref={heading} tabIndex={-1}>
          {alert !== undefined && <LevelBadge level={alert.rule?.level ?? 0} />}{' '}
          {alert?.rule?.description ?? TEXTS.alerts.one}
        </h2>
        <div class="actions">
          <CopyButton text={location.href} label={TEXTS.alerts.copyLink} />
          <button type="button" onClick={close}>
            {TEXTS.common.close}
          </button>
        </div>
      </header>
      <Loaded query={query}>
        {({ affected_items: [found] }) =>
          found !== undefined && <Tabs label={TEXTS.alerts.one} param="view" tabs={tabsOf(found)} />
        }
      </Loaded>
    </section>
  );
}

function tabsOf(alert: Alert): Tab[] {
  const { tabs } = TEXTS.alerts;
  return [
    { key: 'values', title: tabs.values, show: () => <ValuesTab alert={alert} /> },
    { key: 'rule', title: tabs.rule, show: () => <RuleTab alert={alert} /> },
    { key: 'explain', title: tabs.explain, show: () => <ExplainTab key={alert.alert_id} alert={alert} /> },
    { key: 'around', title: tabs.around, show: () => <AroundTab alert={alert} /> },
    { key: 'json', title: tabs.json, show: () => <JsonTab alert={alert} /> },
  ];
}

function JsonTab({ alert }: { readonly alert: Alert }) {
  const text = JSON.stringify(alert, undefined, 2);
  return (
    <>
      <div class="actions">
        <CopyButton text={text} />
      </div>
      <pre class="code whole" role="region" aria-label={TEXTS.alerts.tabs.json} tabIndex={0}>
        {text}
      </pre>
    </>
  );
}
