import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { describeError } from '../../lib/log/describe-error.js';
import { productRoot } from '../../lib/product/product-root.js';
import { AttackStory } from '../attack-story/attack-story.js';
import { ApiClient } from '../support/api/api-client.js';
import { startChromium } from '../support/console/chromium.js';
import { ConsoleHome } from '../support/console/console-home.js';
import { ConsolePage, PHONE } from '../support/console/console-page.js';
import { eventually } from '../support/eventually.js';

/*
 * Pictures of every page of the console for README and docs, of a manager whose agents are attacked:
 *
 *   npm run screenshots
 */
const FOLDER = fileURLToPath(new URL('docs/guide/screenshots', productRoot()));
/** They are taken here, and all of them take the place of those before: a run that fails leaves these. */
const NEW_FOLDER = `${FOLDER}.new`;
const WINDOW = { width: 1280, height: 860 };

type Shot = { readonly name: string; readonly place: string; readonly isPhone?: boolean; readonly isDark?: boolean };

/** The alert that says how the attacker came in. */
const BREAK_IN = '40112';

function shots(breakIn: string, agent: string): readonly Shot[] {
  return [
    { name: 'overview', place: '#/overview' },
    { name: 'overview-dark', place: '#/overview', isDark: true },
    { name: 'alerts', place: '#/alerts?from=now-1h' },
    { name: 'alert', place: `#/alerts?from=now-1h&alert=${encodeURIComponent(breakIn)}` },
    { name: 'alerts-phone', place: '#/alerts?from=now-1h', isPhone: true },
    { name: 'agents', place: '#/agents' },
    { name: 'agent', place: `#/agents/${agent}` },
    { name: 'groups', place: '#/groups/default' },
    { name: 'rules', place: '#/rules' },
    { name: 'rule', place: `#/rules/${BREAK_IN}` },
    { name: 'logtest', place: '#/rules?tab=logtest' },
    { name: 'manager', place: '#/manager' },
  ];
}

async function take(browser: Browser, home: ConsoleHome, { name, place, isPhone, isDark }: Shot): Promise<void> {
  const console = await ConsolePage.open(browser, home, {
    place,
    viewport: isPhone === true ? PHONE : WINDOW,
    dark: isDark === true,
  });
  try {
    await console.logIn();
    const { page } = console;
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('#content').waitFor();
    await page.waitForLoadState('networkidle');
    await eventually('everything is there', async () => (await page.locator('.loading').count()) === 0);
    await page.screenshot({ path: join(NEW_FOLDER, `${name}.png`), animations: 'disabled' });
  } finally {
    await console.close();
  }
}

async function breakInOf(home: ConsoleHome): Promise<string> {
  return eventually('the alert of the break-in is found', async () => {
    const answer = (await home.call('GET', `/alerts?rule_ids=${BREAK_IN}&limit=1`)).json() as {
      data: { affected_items: { alert_id: string }[] };
    };
    return answer.data.affected_items[0]?.alert_id;
  });
}

async function main(): Promise<number> {
  let home: ConsoleHome | undefined;
  let browser: Browser | undefined;
  let story: AttackStory | undefined;
  try {
    browser = await startChromium();
    home = await ConsoleHome.start();
    story = new AttackStory({ home: home.home, api: new ApiClient(home.home), say: console.log, paceMs: 150 });
    await story.begin();
    await story.play();
    const breakIn = await breakInOf(home);
    rmSync(NEW_FOLDER, { recursive: true, force: true });
    mkdirSync(NEW_FOLDER, { recursive: true });
    for (const shot of shots(breakIn, '001')) {
      await take(browser, home, shot);
      console.log(`docs/guide/screenshots/${shot.name}.png`);
    }
    rmSync(FOLDER, { recursive: true, force: true });
    renameSync(NEW_FOLDER, FOLDER);
    return 0;
  } catch (error) {
    console.error(`screenshots: ${describeError(error)}`);
    if (browser === undefined) {
      console.error('screenshots: they need /usr/bin/chromium (Debian: apt install chromium).');
    }
    return 1;
  } finally {
    rmSync(NEW_FOLDER, { recursive: true, force: true });
    story?.end();
    await browser?.close();
    await home?.stop();
  }
}

process.exitCode = await main();
