import { readFileSync, writeFileSync } from 'node:fs';
import type { Home } from '../../lib/home/home.js';

/** Has svc-syscheckd look at the configuration of a new home alone: all programs of the host take it ten seconds of CPU. */
export function watchLittle(home: Home): void {
  const configuration = home.path('etc', 'manager.conf');
  const text = readFileSync(configuration, 'utf8');
  const little = text.replaceAll(
    /<directories>[^<]*<\/directories>/g,
    `<directories>${home.path('etc')}</directories>`,
  );
  if (little === text) throw new Error(`${configuration} names no directories`);
  writeFileSync(configuration, little);
}
