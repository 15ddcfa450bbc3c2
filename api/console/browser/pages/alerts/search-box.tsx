import { useEffect, useId, useState } from 'preact/hooks';
import { AGENT_GROUP, filterNamed, filtersOf } from '../../client/alert-filters.js';
import type { AlertTop } from '../../client/alerts.js';
import { shownNumber } from '../../client/shown.js';
import { useGroupNames } from '../../client/use-groups.js';
import { useQuery } from '../../client/use-query.js';
import { useRuleNames } from '../../client/use-rule-names.js';
import { Combobox, type Suggestion } from '../../parts/combobox.js';
import { useTimeSpan } from '../../parts/time-range.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { type Completion, completionOf, readSearch, withLast } from './search-text.js';

type Choice = Suggestion & { readonly word: string };

/** Suggestions that are seen at once. */
const MOST_SHOWN = 12;
/** Values that are asked for; what is typed chooses among them, so that no letter is a request. */
const MOST_VALUES = 200;
/** Values of `min_level`, which counts none. */
const LEVELS = ['3', '5', '7', '10', '12', '15'];

/** Words and filters, with suggestions: names of filters, and their commonest values in the time that is looked at. */
export function SearchBox() {
  const [params, change] = useParams();
  const searched = params.get('search') ?? '';
  const [text, setText] = useState(searched);
  const hint = useId();
  useEffect(() => setText(searched), [searched]);
  const completion = completionOf(text);
  const values = useValues(completion);
  const choices = completion.kind === 'name' ? namesOf(completion.names) : values;
  const submit = () => {
    const changes = readSearch(params, text);
    setText(changes['search'] ?? '');
    change(changes);
  };
  const pick = ({ word }: Choice) => {
    if (completion.kind === 'name') {
      setText(withLast(text, `${word}:`));
      return;
    }
    const filter = filterNamed(params, completion.name, word, completion.isWanted);
    // A value that no filter can have stays to be looked for as words.
    setText(withLast(text, filter === undefined ? word : ''));
    if (filter !== undefined) change(filter);
  };
  return (
    <form
      role="search"
      class="grow search-box"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Combobox
        label={TEXTS.alerts.search}
        value={text}
        placeholder={TEXTS.alerts.searchExample}
        describedBy={hint}
        suggestions={choices}
        onInput={setText}
        onPick={pick}
        onSubmit={submit}
      />
      <button class="primary">{TEXTS.common.search}</button>
      <span class="unseen" id={hint}>
        {TEXTS.alerts.searchHint}
      </span>
    </form>
  );
}

function namesOf(names: readonly string[]): Choice[] {
  return names
    .slice(0, MOST_SHOWN)
    .map((name) => ({ key: name, word: name, label: `${name}:`, note: TEXTS.alerts.filterNames[name] ?? '' }));
}

/** Values of the filter that is being typed. */
function useValues(completion: Completion): Choice[] {
  const [params] = useParams();
  const { from, to } = useTimeSpan();
  const isValue = completion.kind === 'value';
  const { name, path, prefix } = isValue ? completion : { name: '', path: '', prefix: '' };
  const isGroup = path === AGENT_GROUP;
  const groups = useGroupNames(isGroup);
  const fixed = name === 'min_level' ? LEVELS : isGroup ? groups : undefined;
  const asked = { field: path, ...filtersOf(params), from, to, limit: MOST_VALUES };
  const { data } = useQuery(
    isValue && fixed === undefined ? `top ${JSON.stringify(asked)}` : undefined,
    (api, signal) => api.get<AlertTop>('/alerts/top', asked, signal),
  );
  const wanted = prefix.toLowerCase();
  const counted = data?.affected_items.map(({ value, count }) => ({ value: String(value), count })) ?? [];
  const found = (fixed?.map((value) => ({ value, count: undefined })) ?? counted)
    .filter(({ value }) => value.toLowerCase().includes(wanted))
    .slice(0, MOST_SHOWN);
  const rules = useRuleNames(path === 'rule.id' ? found.map(({ value }) => value) : []);
  return found.map(({ value, count }) => ({
    ...{ key: value, word: value },
    label: rules.has(value) ? `${value} ${rules.get(value) ?? ''}` : value,
    ...(count === undefined ? {} : { note: shownNumber(count) }),
  }));
}
