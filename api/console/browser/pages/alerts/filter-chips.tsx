import { chipsOf } from '../../client/alert-filters.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';

/** The filters that hold, each with a button that takes it away. */
export function FilterChips() {
  const [params, change] = useParams();
  const chips = chipsOf(params);
  if (chips.length === 0) return null;
  return (
    <ul class="chips" aria-label={TEXTS.alerts.filters}>
      {chips.map(({ name, path, operator, value, without }) => {
        const text = path === undefined ? value : `${path} ${TEXTS.alerts.operators[operator] ?? operator} ${value}`;
        return (
          <li key={`${name} ${text}`}>
            <span>{text}</span>
            <button
              type="button"
              class="quiet"
              aria-label={TEXTS.alerts.removeFilter(text)}
              onClick={() => change(without)}
            >
              ✕
            </button>
          </li>
        );
      })}
      {chips.length > 1 && (
        <li class="all">
          <button
            type="button"
            class="link"
            onClick={() => change(Object.fromEntries(chips.map(({ name }) => [name, undefined])))}
          >
            {TEXTS.alerts.removeFilters}
          </button>
        </li>
      )}
    </ul>
  );
}
