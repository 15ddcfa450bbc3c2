import type { InternalOptions } from '../config/internal-options.js';
import type { MaintenanceSettings } from './log-maintenance.js';
import type { RetentionRule } from './retention.js';

const MEGABYTE = 1024 ** 2;

type Options = InternalOptions<'monitord'>;

/** How logs are rotated: internal options `monitord.*`, on managers and on agents (daemons-and-config.md 2). */
export function maintenanceSettings(options: Options): MaintenanceSettings {
  return {
    compress: options.get('monitord.compress') === 1,
    rotateBySize: options.get('monitord.rotate_log') === 1,
    sizeLimit: options.get('monitord.size_rotate') * MEGABYTE,
    dailyRotations: options.get('monitord.daily_rotations'),
    dayWait: options.get('monitord.day_wait'),
  };
}

const ofStem = (stem: string): RegExp => new RegExp(`^${stem}-(\\d{2})(?:-\\d{3})?\\.(?:log|json)(?:\\.gz|\\.sum)?$`);
/** How the rules for alerts and for archives are called. */
export const ALERTS = 'logs/alerts';
export const ARCHIVES = 'logs/archives';

const MANAGER = { directory: 'manager', pattern: ofStem('manager') };
const OTHERS = [
  { directory: 'active-responses', pattern: ofStem('active-responses') },
  { directory: 'indexer-rejected', pattern: ofStem('indexer-rejected') },
  { directory: 'integrations', pattern: ofStem('integrations') },
  { directory: 'api', pattern: /^api\.(?:log|json)-(\d{2})(?:_\d+)?(?:\.gz)?$/ },
];

/** How long rotated logs and the outputs of svc-analysisd are kept; nothing but the manager's log has an end by default. */
export function retentionRules(options: Options): readonly RetentionRule[] {
  const given = (name: Parameters<Options['get']>[0], unit = 1): number | undefined => {
    const value = options.get(name);
    return value === 0 ? undefined : value * unit;
  };
  return [
    {
      what: 'logs/manager',
      places: [MANAGER],
      // The day on which one has become so old is kept whole.
      days: options.get('monitord.keep_log_days') + 1,
      bytes: undefined,
    },
    { what: 'other logs', places: OTHERS, days: given('monitord.keep_other_log_days'), bytes: undefined },
    {
      what: 'rotated logs',
      places: [MANAGER, ...OTHERS],
      days: undefined,
      bytes: given('monitord.max_log_size', MEGABYTE),
    },
    {
      what: ALERTS,
      places: [{ directory: 'alerts', pattern: ofStem('ossec-alerts') }],
      days: given('monitord.keep_alert_days'),
      bytes: given('monitord.max_alert_size', MEGABYTE),
    },
    {
      what: ARCHIVES,
      places: [{ directory: 'archives', pattern: ofStem('ossec-archive') }],
      days: given('monitord.keep_archive_days'),
      bytes: given('monitord.max_archive_size', MEGABYTE),
    },
    {
      what: 'logs/firewall',
      places: [{ directory: 'firewall', pattern: ofStem('ossec-firewall') }],
      days: given('monitord.keep_firewall_days'),
      bytes: given('monitord.max_firewall_size', MEGABYTE),
    },
  ];
}
