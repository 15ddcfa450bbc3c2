/** What svc-db knows of an agent, as far as upgrades depend on it. */
export type UpgradableAgent = {
  readonly id: string;
  readonly status: string;
  /** `Wazuh v4.14.7` */
  readonly version: string | undefined;
  readonly platform: string | undefined;
  readonly arch: string | undefined;
};

/** Fields of svc-db that it is read from. */
export const AGENT_FIELDS = ['status', 'version', 'os.platform', 'os.arch'];

/** Reads an item of `agents.get`. */
export function upgradableAgent(item: Readonly<Record<string, unknown>>): UpgradableAgent {
  const os = (item['os'] ?? {}) as Readonly<Record<string, unknown>>;
  const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
  return {
    id: String(item['id']),
    status: String(item['status']),
    version: text(item['version']),
    platform: text(os['platform'])?.toLowerCase(),
    arch: text(os['arch'])?.toLowerCase(),
  };
}

/** Whether it runs Windows, where the installer of a package is another one. */
export function isWindows({ platform }: UpgradableAgent): boolean {
  return platform === 'windows';
}
