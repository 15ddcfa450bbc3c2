import type { MonitordSettings } from '../monitord-settings.js';
import type { OutputDefinition } from './alert-outputs.js';

/** The outputs that a configuration asks for. */
export function outputDefinitions(_settings: MonitordSettings): OutputDefinition[] {
  return [];
}
