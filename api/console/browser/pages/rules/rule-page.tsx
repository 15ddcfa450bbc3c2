import { ruleSource } from '../../client/rule-source.js';
import { useQuery } from '../../client/use-query.js';
import { CodeView } from '../../parts/code-view.js';
import { Loaded } from '../../parts/loaded.js';
import { Card, Page } from '../../parts/page.js';
import { Facts, LevelBadge } from '../../parts/small.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';
import { FileLink } from './file-link.js';
import { Children, Parents } from './relations.js';
import { conditionsOf, detailText, pathOf, type Requirement, REQUIREMENTS, type Rule } from './rule.js';
import { addressOf, rawOf, readPath } from './ruleset-file.js';

const T = TEXTS.rules;

/** One rule: what it looks for, how it is written, and what stands above and below it. */
export function RulePage({ id }: { readonly id: string }) {
  const query = useQuery(`rule ${id}`, (api, signal) =>
    api.list<Rule>('/rules', { rule_ids: /^\d+$/.test(id) ? id : '0' }, signal),
  );
  return (
    <Page
      title={T.rule(id)}
      actions={
        <>
          <a class="button" href={hrefOf(['alerts'], { rule_ids: id })}>
            {T.alerts}
          </a>
          <a class="button" href={hrefOf(['rules'], { tab: 'logtest', why: id })}>
            {T.tryLine}
          </a>
        </>
      }
    >
      <Loaded query={query}>
        {({ affected_items: rules }) => {
          const rule = rules.findLast(({ status }) => status === 'enabled') ?? rules.at(-1);
          if (rule === undefined) return <p class="empty">{T.noRule(id)}</p>;
          return (
            <>
              {rules.length > 1 && <p class="hint">{T.again(id)}</p>}
              <Shown rule={rule} />
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function Shown({ rule }: { readonly rule: Rule }) {
  const conditions = conditionsOf(rule.details);
  return (
    <>
      <Card title={rule.description === '' ? T.rule(String(rule.id)) : rule.description}>
        <Facts facts={factsOf(rule)} />
        <h3>{T.conditions}</h3>
        {conditions.length === 0 ? (
          <p class="empty">{T.noConditions}</p>
        ) : (
          <dl class="conditions">
            {conditions.map(([name, text]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd class="mono">{text}</dd>
              </div>
            ))}
          </dl>
        )}
      </Card>
      <div class="grid">
        <Card title={T.parents}>
          <Parents rule={rule} />
        </Card>
        <Card title={T.children}>
          <Children rule={rule} />
        </Card>
      </div>
      <Card title={T.source}>
        <Source rule={rule} />
      </Card>
    </>
  );
}

function factsOf(rule: Rule) {
  const { level, groups, mitre, status, details } = rule;
  const requirements = (Object.entries(REQUIREMENTS) as [Requirement, string][])
    .filter(([name]) => rule[name].length > 0)
    .map(
      ([name, title]) =>
        [title, <Links names={rule[name]} of={(number) => ({ requirement: name, number })} />] as const,
    );
  return [
    [T.facts.level, <LevelBadge level={level} />],
    [T.facts.file, <FileLink path={pathOf(rule)} />],
    [T.facts.status, T[status]],
    [T.facts.groups, <Links names={groups} of={(group) => ({ group })} />],
    ...(details['options'] === undefined ? [] : [[T.facts.options, detailText(details['options'])] as const]),
    ...(mitre.length === 0
      ? []
      : [[T.facts.techniques, <Links names={mitre} of={(id) => ({ mitre: id })} />] as const]),
    ...requirements,
  ] as const;
}

type LinksProps = { readonly names: readonly string[]; readonly of: (name: string) => Record<string, string> };

/** Names, each a way to the rules that have it. */
function Links({ names, of }: LinksProps) {
  return (
    <span class="links">
      {names.map((name) => (
        <a key={name} href={hrefOf(['rules'], { tab: 'rules', ...of(name) })}>
          {name}
        </a>
      ))}
    </span>
  );
}

function Source({ rule }: { readonly rule: Rule }) {
  const path = pathOf(rule);
  const file = readPath(path);
  const query = useQuery(file === undefined ? undefined : `rule file ${path}`, (api, signal) =>
    file === undefined ? Promise.resolve('') : api.text(addressOf(file), rawOf(file), signal),
  );
  return (
    <Loaded query={query}>
      {(text) => {
        const source = ruleSource(text, String(rule.id));
        if (source === undefined) return <p class="empty">{T.sourceGone}</p>;
        return <CodeView label={path} text={source.text} from={source.from} marked={source.lines} />;
      }}
    </Loaded>
  );
}
