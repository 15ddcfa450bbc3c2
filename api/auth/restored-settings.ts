import type { RbacStore } from '../rbac/rbac-store.js';
import type { SecuritySettings } from './security-settings.js';

/** Writes the settings of a restore that was broken off before they were in their file. @throws SettingsNotWrittenError, StoreError */
export async function applyRestoredSettings({
  store,
  settings,
}: {
  readonly store: RbacStore;
  readonly settings: Pick<SecuritySettings, 'replace'>;
}): Promise<void> {
  const { restoredSettings } = store;
  if (restoredSettings === undefined) return;
  const { auth_token_exp_timeout: tokenLifetimeSeconds, rbac_mode: rbacMode } = restoredSettings;
  settings.replace({ tokenLifetimeSeconds, rbacMode });
  await store.forgetRestoredSettings();
}
