import type { ComponentChildren } from 'preact';
import { filterBy } from '../../client/alert-filters.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';

type FilterValueProps = {
  /** Field of the alert. */
  readonly path: string;
  readonly value: string | number | boolean | undefined;
  readonly onFilter: (path: string, value: string) => void;
  readonly children?: ComponentChildren;
};

/** A value of an alert; a click leaves alerts that have it. Of these there are hundreds: nothing is worked out before a click. */
export function FilterValue({ path, value, onFilter, children }: FilterValueProps) {
  if (value === undefined || value === '') return null;
  const text = String(value);
  return (
    <button type="button" class="link value" title={TEXTS.alerts.only(path, text)} onClick={() => onFilter(path, text)}>
      {children ?? text}
    </button>
  );
}

/** Two buttons for a value: only with it, and without it. */
export function ValueButtons({ path, value }: { readonly path: string; readonly value: string }) {
  const [params, change] = useParams();
  const buttons = [
    { sign: '=', name: TEXTS.alerts.only(path, value), filter: filterBy(params, path, value) },
    { sign: '≠', name: TEXTS.alerts.without(path, value), filter: filterBy(params, path, value, false) },
  ];
  return (
    <span class="value-buttons">
      {buttons.map(
        ({ sign, name, filter }) =>
          filter !== undefined && (
            <button
              type="button"
              class="quiet"
              key={sign}
              title={name}
              aria-label={name}
              onClick={() => change(filter)}
            >
              {sign}
            </button>
          ),
      )}
    </span>
  );
}
