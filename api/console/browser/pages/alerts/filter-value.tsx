import type { ComponentChildren } from 'preact';
import { filterBy } from '../../client/alert-filters.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';

type FilterValueProps = {
  /** Field of the alert. */
  readonly path: string;
  readonly value: string | number | boolean | undefined;
  readonly children?: ComponentChildren;
};

/** A value of an alert; a click leaves alerts that have it. */
export function FilterValue({ path, value, children }: FilterValueProps) {
  const [params, change] = useParams();
  if (value === undefined || value === '') return null;
  const text = String(value);
  const filter = filterBy(params, path, text);
  if (filter === undefined) return <>{children ?? text}</>;
  return (
    <button type="button" class="link value" title={TEXTS.alerts.only(path, text)} onClick={() => change(filter)}>
      {children ?? text}
    </button>
  );
}

/** Two buttons for a value: only with it, and without it. */
export function ValueButtons({ path, value }: { readonly path: string; readonly value: string }) {
  const [params, change] = useParams();
  const [wanted, unwanted] = [filterBy(params, path, value), filterBy(params, path, value, false)];
  return (
    <span class="value-buttons">
      {wanted !== undefined && (
        <button
          type="button"
          class="quiet"
          title={TEXTS.alerts.only(path, value)}
          aria-label={TEXTS.alerts.only(path, value)}
          onClick={() => change(wanted)}
        >
          =
        </button>
      )}
      {unwanted !== undefined && (
        <button
          type="button"
          class="quiet"
          title={TEXTS.alerts.without(path, value)}
          aria-label={TEXTS.alerts.without(path, value)}
          onClick={() => change(unwanted)}
        >
          ≠
        </button>
      )}
    </span>
  );
}
