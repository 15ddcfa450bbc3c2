import type { Alert } from '../../client/alerts.js';
import { ruleSource } from '../../client/rule-source.js';
import { useQuery } from '../../client/use-query.js';
import { CodeView } from '../../parts/code-view.js';
import { Loaded } from '../../parts/loaded.js';
import { Facts, LevelBadge } from '../../parts/small.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';

type Rule = {
  readonly id: number;
  readonly level: number;
  readonly description: string;
  readonly filename: string;
  readonly relative_dirname: string;
  readonly groups: readonly string[];
};

/** The rule of an alert as it is now, with its source. */
export function RuleTab({ alert: { rule } }: { readonly alert: Alert }) {
  const id = rule?.id ?? '';
  const query = useQuery(id === '' ? undefined : `rule ${id}`, (api, signal) =>
    api.list<Rule>('/rules', { rule_ids: id }, signal),
  );
  const { technique = [], tactic = [], id: ids = [] } = rule?.mitre ?? {};
  return (
    <Loaded query={query}>
      {({ affected_items: [now] }) =>
        now === undefined ? (
          <p class="empty">{TEXTS.alerts.ruleGone}</p>
        ) : (
          <>
            <Facts
              facts={[
                [TEXTS.alerts.columns.rule, <a href={hrefOf(['rules', id])}>{id}</a>],
                [TEXTS.alerts.columns.level, <LevelBadge level={now.level} />],
                [TEXTS.alerts.columns.description, now.description],
                [TEXTS.alerts.columns.groups, now.groups.join(', ')],
                ...(ids.length === 0
                  ? []
                  : [[TEXTS.alerts.columns.attack, [...ids, ...technique, ...tactic].join(', ')] as const]),
              ]}
            />
            <Source rule={now} />
          </>
        )
      }
    </Loaded>
  );
}

function Source({ rule: { id, filename, relative_dirname: folder } }: { readonly rule: Rule }) {
  const query = useQuery(`rule file ${folder}/${filename}`, (api, signal) =>
    api.text(`/rules/files/${encodeURIComponent(filename)}`, { raw: true, relative_dirname: folder }, signal),
  );
  return (
    <Loaded query={query}>
      {(file) => {
        const source = ruleSource(file, String(id));
        if (source === undefined) return <p class="empty">{TEXTS.alerts.sourceGone}</p>;
        const place = `${folder}/${filename}`;
        return (
          <>
            <h3>{place}</h3>
            <CodeView label={place} text={source.text} from={source.from} marked={source.lines} />
          </>
        );
      }}
    </Loaded>
  );
}
