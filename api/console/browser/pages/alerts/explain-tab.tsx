import type { Alert } from '../../client/alerts.js';
import { useConsole } from '../../client/console-context.js';
import { useQuery } from '../../client/use-query.js';
import { type Explained, ExplanationView } from '../../parts/explanation-view.js';
import { Loaded } from '../../parts/loaded.js';
import { TEXTS } from '../../texts.js';

/** How the ruleset takes the line of an alert now, step by step. */
export function ExplainTab({ alert: { alert_id: id, full_log: log, rule, location } }: { readonly alert: Alert }) {
  const { session } = useConsole();
  const isAsked = log !== undefined && session.mayExplain;
  const query = useQuery(isAsked ? `explain ${id}` : undefined, async (api) => {
    const options = { explain: true, why: Number(rule?.id ?? 0) };
    // Not broken off with the tab: the session that it begins would stay open, and nobody would know its name.
    const explained = await api.exchange<Explained & { readonly token?: string }>('PUT', '/logtest', {
      json: { event: log, log_format: 'syslog', location: location ?? 'console', options },
    });
    // A session keeps a ruleset; there are few, and others test as well. That one stays a while is no harm.
    if (explained.token !== undefined) {
      api.exchange('DELETE', `/logtest/sessions/${explained.token}`).catch(() => undefined);
    }
    return explained;
  });
  if (log === undefined) return <p class="empty">{TEXTS.alerts.noLog}</p>;
  if (!isAsked) return <p class="empty">{TEXTS.alerts.mayNotExplain}</p>;
  return (
    <>
      <p class="hint">{TEXTS.alerts.explainHint}</p>
      <Loaded query={query}>{(data) => <ExplanationView explained={data} />}</Loaded>
    </>
  );
}
