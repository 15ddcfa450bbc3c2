import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import type { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { skipWithoutChromium, startChromium } from '../../support/console/chromium.js';
import { ConsoleHome } from '../../support/console/console-home.js';
import { ConsolePage, PHONE } from '../../support/console/console-page.js';
import { addAgent, connectAgent, tellOfHost } from '../../support/console/telling-agent.js';

const READER = { name: 'reader', password: 'Correct-42-horse' };
/** Pages are looked at as often as a test likes. */
const NO_LIMIT = 'access:\n  max_request_per_minute: 0\n';

describe('the console: agents', function () {
  this.timeout(180_000);
  let home: ConsoleHome;
  let browser: Browser;
  let console: ConsolePage;
  let agent: MinimalAgent;

  before(async function () {
    skipWithoutChromium(this);
    [home, browser] = await Promise.all([ConsoleHome.start(NO_LIMIT), startChromium()]);
    await home.call('POST', '/groups', '{"group_id": "web"}');
    const first = await addAgent(home, 'web01');
    agent = await connectAgent(home, first);
    await tellOfHost(home, first.id, agent);
    for (let index = 2; index <= 30; index += 1) await addAgent(home, `box${String(index).padStart(2, '0')}`);
    await home.addUser(READER, 'readonly');
  });
  after(async () => {
    agent?.close();
    await browser?.close();
    await home?.stop();
  });
  afterEach(async () => {
    await console?.close();
  });

  const open = async (place: string, options: Parameters<typeof ConsolePage.open>[2] = {}) => {
    console = await ConsolePage.open(browser, home, { ...options, place });
    await console.logIn();
    return console.page;
  };
  const row = (name: string) => console.page.getByRole('row').filter({ hasText: name });

  it('finds some of them by state, words and order, all of it in the URL', async () => {
    const page = await open('#/agents');
    await page.getByText('1–25 of 30').waitFor();
    await console.expectClean();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('26–30 of 30').waitFor();
    await page.getByRole('list', { name: 'Agents by state' }).getByRole('link', { name: '1 Active' }).click();
    await page.getByText('1–1 of 1').waitFor();
    await row('web01').getByText('Up to date').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByLabel('Search', { exact: true }).fill('box2');
    await page.getByText('1–10 of 10').waitFor();
    await page.getByRole('button', { name: 'Name' }).click();
    await page.getByRole('button', { name: 'Name' }).click();
    await page.getByRole('row').nth(1).filter({ hasText: 'box29' }).waitFor();
    expect(new URLSearchParams(page.url().split('?')[1]).toString()).to.equal('search=box2&sort=-name');
    await page.getByLabel('Query').fill('id>');
    await page.getByRole('alert').filter({ hasText: 'q' }).waitFor();
    await console.expectClean();
  });

  it('changes groups of those that are selected, over pages, and says what was done', async () => {
    const page = await open('#/agents');
    await page.getByLabel('Select box02').check();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByLabel('Select box30').check();
    const actions = page.getByRole('group', { name: 'What to do with the selected agents' });
    await actions.getByText('2 agents selected').waitFor();
    await actions.getByRole('button', { name: 'Change groups' }).click();
    const dialog = page.getByRole('dialog', { name: 'Groups of 2 agents' });
    await dialog.getByLabel('Group').selectOption('web');
    await console.expectClean();
    await dialog.getByRole('button', { name: 'Change groups' }).click();
    await page.getByText('Done for 2 of them: web.').waitFor();
    await row('box30').getByRole('link', { name: 'web' }).waitFor();
    await actions.getByRole('button', { name: 'Restart' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click();
    // Neither is connected: the server's words stand in the question, which stays.
    await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'not active' }).waitFor();
  });

  it('shows one with its groups, files and their history, inventory, policies and statistics', async () => {
    const page = await open('#/agents/001');
    const tab = (name: string) => page.getByRole('tab', { name, exact: true }).click();
    await page.getByRole('heading', { name: 'web01 (001)' }).waitFor();
    await page.getByRole('link', { name: 'Integrity checksum changed.' }).waitFor();
    await page.getByLabel('Add a group').selectOption('web');
    await page.getByRole('button', { name: 'Add to the group' }).click();
    await page.getByRole('button', { name: 'Leave web' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take out of the group' }).click();
    await page.getByRole('button', { name: 'Leave web' }).waitFor({ state: 'detached' });
    await console.expectClean();

    await tab('Configuration');
    await page.getByText('"crypto_method": "aes"').waitFor();
    await page.getByLabel('Part').selectOption('com/logging');
    await page.getByRole('alert').filter({ hasText: 'com' }).waitFor();
    await console.expectClean();

    await tab('Files');
    await page.getByRole('button', { name: '/etc/demo' }).click();
    const file = page.getByRole('dialog', { name: '/etc/demo' });
    await file.getByText('> hello world!').waitFor();
    expect(await file.getByRole('listitem').allTextContents()).to.have.length(2);
    await console.expectClean();
    await page.keyboard.press('Escape');

    await tab('Inventory');
    await row('openssl').getByText('1.0-1').waitFor();
    await page.getByLabel('Search').fill('zsh');
    await page.getByText('1–1 of 1').waitFor();
    await console.expectClean();

    await tab('Policies');
    await page.getByLabel('Result').selectOption('failed');
    await page.getByRole('button', { name: 'Check 2 of cis_debian12' }).click();
    await page.getByRole('dialog').getByText('f:/etc/file2 -> r:^yes').waitFor();
    await console.expectClean();
    await page.keyboard.press('Escape');

    await tab('Statistics');
    await row('/var/log/auth.log').getByText('512').waitFor();
    await page.getByRole('region', { name: 'Counted by svc-remoted' }).waitFor();
    await console.expectClean();
  });

  it('says how to enrol one, and sees it come', async () => {
    const page = await open('#/agents/enrol');
    await page.getByText('Waiting for an agent to come…').waitFor();
    await page.getByLabel('Name of the agent').fill('a b');
    await page.getByText('Letters, digits and . _ - alone').waitFor();
    await page.getByLabel('Name of the agent').fill('web99');
    await page.getByLabel('web', { exact: true }).check();
    await console.expectClean();
    await page
      .getByRole('region', { name: 'An unmodified Wazuh agent', exact: true })
      .getByRole('button', { name: 'Copy' })
      .click();
    const copied = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(copied).to.match(/^\/var\/ossec\/bin\/agent-auth -m 127\.0\.0\.1 -A web99 -G web\n/);
    const made = await addAgent(home, 'web99');
    const link = page.getByRole('link', { name: `web99 (${made.id})` });
    await link.waitFor();
    const arrived = await connectAgent(home, made);
    try {
      await page.getByText('connected', { exact: true }).waitFor();
      await link.click();
      await page.getByRole('heading', { name: `web99 (${made.id})` }).waitFor();
      await page.getByRole('button', { name: 'Restart' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click();
      await arrived.until('restarts', () => arrived.received.some((text) => text.startsWith('execd ')));
      await page.getByRole('button', { name: 'Remove' }).click();
      const dialog = page.getByRole('dialog', { name: `Remove web99 (${made.id})?` });
      await dialog.getByText('Its key counts no more').waitFor();
      await console.expectClean();
      await dialog.getByRole('button', { name: 'Remove' }).click();
      await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
      await page.getByText('1–25 of 30').waitFor();
    } finally {
      arrived.close();
    }
  });

  it('offers nothing to who may only look, and is good on a phone in the dark', async () => {
    console = await ConsolePage.open(browser, home, { place: '#/agents', viewport: PHONE, dark: true });
    const { page } = console;
    await console.logIn(READER.name, READER.password);
    await page.getByLabel('Select web01').check();
    await page.getByText('1 agent selected').waitFor();
    await console.expectClean();
    await console.expectNoSidewaysScroll();
    for (const name of ['Restart', 'Change groups', 'Remove']) {
      expect(await page.getByRole('button', { name, exact: true }).count(), name).to.equal(0);
    }
    for (const [tab, sight] of [
      ['overview', 'Enrolled from'],
      ['configuration', 'crypto_method'],
      ['files', '/etc/demo'],
      ['inventory', 'openssl'],
      ['policies', 'Check 1 of cis_debian12'],
      ['statistics', '/var/log/auth.log'],
    ] as const) {
      await console.go(`#/agents/001?tab=${tab}`);
      await page.getByRole('main').getByText(sight).first().waitFor();
      await console.expectNoSidewaysScroll();
    }
    await console.expectClean();
    expect(await page.getByRole('button', { name: /Leave|Add to the group|Scan now/ }).count()).to.equal(0);
  });
});
