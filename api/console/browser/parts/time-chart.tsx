import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { shownNumber } from '../client/shown.js';
import { bucketSpan } from './chart-span.js';

export type Series = {
  readonly label: string;
  /** A custom property of the style, such as `--level-high`. */ readonly colour: string;
  readonly values: readonly number[];
};

type TimeChartProps = {
  readonly label: string;
  /** Where each bucket begins, seconds since the epoch. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly height?: number;
  /** Bars upon each other, or lines beside each other. */
  readonly kind?: 'stacked' | 'lines';
  /** Somebody chose a span of time, in seconds since the epoch. */
  readonly onBrush?: (from: number, to: number) => void;
};

/** Numbers over time. The same numbers are in a table for those who do not see it. */
export function TimeChart({ label, times, series, height = 180, kind = 'stacked', onBrush }: TimeChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const brush = useRef(onBrush);
  brush.current = onBrush;
  const shape = JSON.stringify([
    series.map(({ label: name, colour }) => [name, colour]),
    kind,
    height,
    onBrush !== undefined,
  ]);
  const chart = useRef<uPlot | undefined>(undefined);
  const data = dataOf(times, series, kind);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const made = new uPlot(optionsOf(element, series, kind, height, onBrush !== undefined), data, element);
    made.hooks.setSelect = [
      (plot) => {
        if (plot.select.width < 2) return;
        const [from, to] = [
          plot.posToVal(plot.select.left, 'x'),
          plot.posToVal(plot.select.left + plot.select.width, 'x'),
        ];
        plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        brush.current?.(from, to);
      },
    ];
    chart.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    watch.observe(element);
    const restyle = new MutationObserver(() => made.redraw());
    restyle.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    return () => {
      watch.disconnect();
      restyle.disconnect();
      made.destroy();
      chart.current = undefined;
    };
    // What changes with the data is set below; the rest is in the shape.
  }, [shape]);
  useEffect(() => chart.current?.setData(data), [JSON.stringify(data)]);
  const totals = series.map(
    ({ label: name, values }) => `${name}: ${shownNumber(values.reduce((sum, each) => sum + each, 0))}`,
  );
  return (
    <figure class="chart">
      <div ref={place} aria-hidden="true" />
      <figcaption class="unseen">{`${label}. ${totals.join(', ')}`}</figcaption>
    </figure>
  );
}

function dataOf(times: readonly number[], series: readonly Series[], kind: 'stacked' | 'lines'): uPlot.AlignedData {
  if (kind === 'lines') return [[...times], ...series.map(({ values }) => [...values])];
  // The first series lies on top: each is drawn from zero to its sum with those below it.
  const sums = times.map(() => 0);
  const stacked = series
    .toReversed()
    .map(({ values }) => values.map((value, index) => (sums[index] = (sums[index] ?? 0) + value)));
  return [[...times], ...stacked.toReversed()];
}

/** Times as this computer's language writes them; the day is told where it begins. @param step seconds between them */
function timeLabels(_plot: uPlot, times: number[], _axis: number, _space: number, step: number): string[] {
  const clock = step < 60 ? ({ timeStyle: 'medium' } as const) : ({ timeStyle: 'short' } as const);
  const day = { day: 'numeric', month: 'short' } as const;
  let before = '';
  return times.map((time) => {
    const at = new Date(time * 1000);
    const date = at.toLocaleDateString(undefined, day);
    const isNew = date !== before;
    before = date;
    if (step >= DAY_S) return date;
    return isNew ? `${at.toLocaleTimeString(undefined, clock)}\n${date}` : at.toLocaleTimeString(undefined, clock);
  });
}

const DAY_S = 86_400;

function wholeBuckets(plot: uPlot): [from: number, to: number] {
  return bucketSpan([...(plot.data[0] ?? [])]);
}

function optionsOf(
  element: HTMLElement,
  series: readonly Series[],
  kind: 'stacked' | 'lines',
  height: number,
  canBrush: boolean,
): uPlot.Options {
  const colour = (name: string) => () => getComputedStyle(element).getPropertyValue(name);
  const bars = uPlot.paths.bars?.({ size: [0.9, 60], align: 1 });
  const axis = { stroke: colour('--text-quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { drag: { x: canBrush, y: false, setScale: false }, y: false },
    scales: {
      x: { time: true, ...(kind === 'stacked' ? { range: wholeBuckets } : {}) },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max)] },
    },
    axes: [
      { ...axis, values: timeLabels },
      { ...axis, size: 48 },
    ],
    series: [
      {},
      ...series.map(({ label, colour: name }) =>
        kind === 'stacked'
          ? {
              label,
              fill: colour(name),
              width: 0,
              points: { show: false },
              ...(bars === undefined ? {} : { paths: bars }),
            }
          : { label, stroke: colour(name), width: 2, points: { show: false } },
      ),
    ],
  };
}
