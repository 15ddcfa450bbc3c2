import type { Home } from '../home/home.js';
import { COMPATIBILITY_VERSION } from '../product/version.js';
import { installationId } from './installation-id.js';

/** Item of `GET /manager/info` (rest-api.md 6.4). */
export type ManagerInfo = {
  readonly path: string;
  readonly version: string;
  readonly type: 'server';
  readonly max_agents: string;
  readonly openssl_support: string;
  /** `+0200` */
  readonly tz_offset: string;
  readonly tz_name: string;
  readonly uuid: string | null;
};

/**
 * What `GET /manager/info` shows of this manager.
 * @param now decides between summer and winter time
 */
export function managerInfo(home: Home, now: Date): ManagerInfo {
  return {
    path: home.root,
    version: `v${COMPATIBILITY_VERSION}`,
    type: 'server',
    max_agents: 'unlimited',
    openssl_support: 'yes',
    tz_offset: offset(-now.getTimezoneOffset()),
    tz_name: zoneName(now),
    uuid: installationId(home),
  };
}

function offset(minutes: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.trunc(size / 60))}${two(size % 60)}`;
}

function zoneName(now: Date): string {
  const parts = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' }).formatToParts(now);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC';
}
