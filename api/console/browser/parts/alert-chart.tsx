import { type AlertHistogram, levelsOverTime } from '../client/alerts.js';
import { SEVERITIES } from '../client/severity.js';
import { TEXTS } from '../texts.js';
import { Legend } from './legend.js';
import { TimeChart } from './time-chart.js';

type AlertChartProps = {
  readonly histogram: AlertHistogram;
  readonly height?: number;
  /** Somebody chose a span of time, in seconds since the epoch. */
  readonly onBrush: (from: number, to: number) => void;
};

/** Alerts over time by how bad they are; a span of it can be chosen. */
export function AlertChart({ histogram, height = 160, onBrush }: AlertChartProps) {
  const { times, counts } = levelsOverTime(histogram.affected_items);
  const series = SEVERITIES.map((severity) => ({
    label: TEXTS.alerts.severity[severity],
    colour: `--level-${severity}`,
    values: counts[severity],
  }));
  return (
    <>
      <TimeChart
        label={TEXTS.alerts.chart}
        times={times}
        series={series}
        height={height}
        onBrush={(from, to) => onBrush(from, Math.min(to, (times.at(-1) ?? to) + histogram.interval))}
      />
      <Legend
        items={series.map(({ label, colour, values }) => ({
          label,
          colour,
          count: values.reduce((sum, value) => sum + value, 0),
        }))}
      />
    </>
  );
}
