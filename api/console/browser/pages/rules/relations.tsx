import { useQuery } from '../../client/use-query.js';
import { Loaded } from '../../parts/loaded.js';
import { LevelBadge } from '../../parts/small.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';
import { childOf, childrenQuery, PARENT_KINDS, parentsOf, type Rule } from './rule.js';

const T = TEXTS.rules;
/** Rules asked for at once; the largest groups of the public ruleset have some hundred below them. */
const MOST = 500;

/** Rules and groups above a rule. */
export function Parents({ rule }: { readonly rule: Rule }) {
  const parents = parentsOf(rule);
  const ids = parents.filter(({ kind }) => kind.endsWith('sid')).map(({ name }) => name);
  const query = useQuery(ids.length === 0 ? undefined : `rules ${ids.join()}`, (api, signal) =>
    api.list<Rule>('/rules', { rule_ids: ids, limit: MOST }, signal),
  );
  if (parents.length === 0) return <p class="empty">{T.noParents}</p>;
  const known = query.data?.affected_items ?? [];
  return (
    <>
      {ids.length > 0 && <Loaded query={query}>{() => null}</Loaded>}
      {PARENT_KINDS.map((kind) => {
        const named = parents.filter((parent) => parent.kind === kind);
        if (named.length === 0) return null;
        return (
          <section key={kind}>
            <h3>{T.parentKinds[kind]}</h3>
            <ul class="relations">
              {named.map(({ name }) => (
                <li key={name}>
                  {kind.endsWith('sid') ? (
                    <RuleLine id={name} rule={known.find(({ id }) => id === Number(name))} />
                  ) : (
                    <a href={hrefOf(['rules'], { tab: 'rules', group: name })}>{name}</a>
                  )}
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </>
  );
}

/** Rules that name a rule, or one of its groups. */
export function Children({ rule }: { readonly rule: Rule }) {
  const query = useQuery(`children ${String(rule.id)}`, (api, signal) =>
    api.list<Rule>('/rules', { q: childrenQuery(rule), limit: MOST }, signal),
  );
  return (
    <Loaded query={query}>
      {({ affected_items: rules }) => {
        const children = rules.flatMap((child) => {
          const how = childOf(rule, child);
          return how === undefined ? [] : [{ child, how }];
        });
        if (children.length === 0) return <p class="empty">{T.noChildren}</p>;
        return (
          <ul class="relations">
            {children.map(({ child, how }) => (
              <li key={`${String(child.id)} ${child.filename}`}>
                <RuleLine id={String(child.id)} rule={child} /> <span class="hint">{T.childOf[how]}</span>
              </li>
            ))}
          </ul>
        );
      }}
    </Loaded>
  );
}

function RuleLine({ id, rule }: { readonly id: string; readonly rule: Rule | undefined }) {
  return (
    <>
      {rule !== undefined && <LevelBadge level={rule.level} />} <a href={hrefOf(['rules', id])}>{id}</a>{' '}
      {rule?.description}
    </>
  );
}
