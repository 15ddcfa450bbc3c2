/** How bad an alert is, worst first. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** The lowest level of each. */
export const LOWEST_LEVEL: Readonly<Record<Severity, number>> = { critical: 15, high: 12, medium: 7, low: 0 };

/** How bad an alert is, by its level (0 to 16). */
export function severityOf(level: number): Severity {
  return SEVERITIES.find((severity) => level >= LOWEST_LEVEL[severity]) ?? 'low';
}
