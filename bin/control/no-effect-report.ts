import { checkConfiguration } from '../../lib/config/check-configuration.js';
import { describePlace } from '../../lib/config/config-error.js';
import type { NoEffect } from '../../lib/config/effects/find-no-effect.js';
import type { Home } from '../../lib/home/home.js';
import type { HomeRole } from '../../lib/home/home-record.js';

/** What the main configuration asks for and what is not done; nothing of a file that cannot be read. */
export function readNoEffect(home: Home, role: HomeRole): readonly NoEffect[] {
  return checkConfiguration(home, role).noEffect;
}

/** The same for scripts. */
export function noEffectItems(found: readonly NoEffect[]): readonly Readonly<Record<string, unknown>>[] {
  return found.map(({ what, state, file, line, lines, text }) => ({ what, state, file, line, lines, text }));
}

/** The same for people, below the daemons: one line each. */
export function noEffectLines(found: readonly NoEffect[]): string[] {
  return found.map((each) => `${each.what} ${describePlace(each)}: ${each.note}`);
}
