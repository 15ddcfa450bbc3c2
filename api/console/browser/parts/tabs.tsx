import type { ComponentChildren } from 'preact';
import { useParams } from '../router/use-place.js';

export type Tab = { readonly key: string; readonly title: string; readonly show: () => ComponentChildren };

type TabsProps = {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly param?: string;
  /** Parameters of the place that mean something in one part alone; page and order of a list always do. */
  readonly ofParts?: readonly string[];
};

/** Parts of a page of which one is seen; which one is in the URL. Arrow keys go from one to the next. */
export function Tabs({ label, tabs, param = 'tab', ofParts = [] }: TabsProps) {
  const [params] = useParams();
  const [, change] = useParams();
  const current = tabs.find(({ key }) => key === params.get(param)) ?? tabs[0];
  const dropped = Object.fromEntries(['offset', 'sort', ...ofParts].map((name) => [name, undefined]));
  const choose = (key: string) => change({ ...dropped, [param]: key }, true);
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0 || current === undefined) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(current) + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    choose(next.key);
    document.getElementById(`tab-${param}-${next.key}`)?.focus();
  };
  return (
    <>
      <div role="tablist" aria-label={label} class="tabs" onKeyDown={move}>
        {tabs.map(({ key, title }) => (
          <button
            type="button"
            role="tab"
            key={key}
            id={`tab-${param}-${key}`}
            aria-selected={key === current?.key}
            aria-controls={`panel-${param}`}
            tabIndex={key === current?.key ? 0 : -1}
            onClick={() => choose(key)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`panel-${param}`} aria-labelledby={`tab-${param}-${current?.key ?? ''}`} tabIndex={0}>
        {current?.show()}
      </div>
    </>
  );
}
