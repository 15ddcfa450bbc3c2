import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PROGRAM = '/usr/bin/chromium';

/** Why tests with a real browser cannot run; undefined where they can. */
const noChromium: string | undefined =
  existsSync(PROGRAM) && spawnSync(PROGRAM, ['--version']).status === 0
    ? undefined
    : 'there is no chromium on this host';

/** Skips a suite, with a line that says why, where there is no browser; to be called first in a hook of it. */
export function skipWithoutChromium(suite: Mocha.Context): void {
  if (noChromium === undefined) return;
  console.log(`    (skipped: ${noChromium})`);
  suite.skip();
}

/** A browser without a window, which asks nobody but the pages it is sent to. */
export function startChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: PROGRAM,
    args: [
      // Root may not have a sandbox; nothing but our own pages is opened.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
    ],
  });
}
