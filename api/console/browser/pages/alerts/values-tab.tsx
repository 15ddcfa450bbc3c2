import { type Alert, factsOf } from '../../client/alerts.js';
import { Facts, Time } from '../../parts/small.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';
import { ValueButtons } from './filter-value.js';

/** Shown above the table, or only of use to programs. */
const APART = new Set(['alert_id', 'timestamp', 'full_log', 'id', 'rule.firedtimes', 'rule.mail']);

/** What is in an alert; by each value the list can be filtered. */
export function ValuesTab({ alert }: { readonly alert: Alert }) {
  const { agent, rule, location, full_log: log } = alert;
  const { columns } = TEXTS.alerts;
  const facts = factsOf(alert).filter(({ path }) => !APART.has(path));
  return (
    <>
      <Facts
        facts={[
          [columns.time, <Time at={alert.timestamp} />],
          [columns.agent, <a href={hrefOf(['agents', agent?.id ?? ''])}>{agent?.name ?? agent?.id ?? ''}</a>],
          [columns.rule, <a href={hrefOf(['rules', rule?.id ?? ''])}>{rule?.id ?? ''}</a>],
          [columns.location, location ?? '–'],
        ]}
      />
      {log !== undefined && (
        <pre class="code whole" role="region" aria-label={TEXTS.alerts.log} tabIndex={0}>
          {log}
        </pre>
      )}
      <table class="values">
        <caption class="unseen">{TEXTS.alerts.tabs.values}</caption>
        <thead class="unseen">
          <tr>
            <th scope="col">{columns.field}</th>
            <th scope="col">{columns.value}</th>
            <th scope="col">{columns.filter}</th>
          </tr>
        </thead>
        <tbody>
          {facts.map(({ path, value }, index) => (
            <tr key={`${path} ${String(index)}`}>
              <th scope="row">{path}</th>
              <td class="mono">{String(value)}</td>
              <td>
                <ValueButtons path={path} value={String(value)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
