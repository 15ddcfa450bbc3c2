import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { skipWithoutChromium, startChromium } from '../../support/console/chromium.js';
import { ConsoleHome } from '../../support/console/console-home.js';
import { ConsolePage, PHONE } from '../../support/console/console-page.js';

const failed = (address: string, user = 'admin') =>
  `Dec 10 01:02:02 host sshd[1234]: Failed password for invalid user ${user} from ${address} port 41234 ssh2`;

describe('the console: alerts', function () {
  this.timeout(180_000);
  let home: ConsoleHome;
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;

  before(async function () {
    skipWithoutChromium(this);
    [home, browser] = await Promise.all([ConsoleHome.start(), startChromium()]);
    await home.sendEvents([failed('192.0.2.7'), failed('192.0.2.7', '=cmd'), failed('198.51.100.1')]);
  });
  after(async () => {
    await browser?.close();
    await home?.stop();
  });
  afterEach(async () => {
    await console?.close();
  });

  const open = async (
    place: string,
    options: { viewport?: { width: number; height: number }; dark?: boolean } = {},
  ) => {
    console = await ConsolePage.open(browser, home, { place, ...options });
    page = console.page;
    await console.logIn();
  };
  const rows = () =>
    page
      .getByRole('table', { name: 'Alerts, one a line' })
      .getByRole('row')
      .filter({ has: page.getByRole('link') });
  const filters = () => page.getByRole('list', { name: 'Filters' });
  const place = () => new URL(page.url()).hash;

  it('shows at once what happened, and leads to it', async () => {
    for (const options of [{ viewport: PHONE, dark: true }, {}]) {
      if (console !== undefined) await console.close();
      await open('#/overview', options);
      await page.getByRole('region', { name: 'Source addresses' }).getByRole('link', { name: '192.0.2.7' }).waitFor();
      await page
        .getByRole('region', { name: 'Rules with most alerts' })
        .getByRole('link', { name: /5710 sshd/ })
        .waitFor();
      await page.getByRole('region', { name: 'Daemons' }).getByText('svc-analysisd').waitFor();
      await page.getByRole('region', { name: 'Agents', exact: true }).getByText('Never connected').waitFor();
      await console.expectClean();
      await console.expectNoSidewaysScroll();
    }
    await page.getByRole('link', { name: '192.0.2.7' }).click();
    await filters().getByText('data.srcip is 192.0.2.7').waitFor();
    await page.getByText('2 alerts', { exact: true }).waitFor();
    expect(await rows().count()).to.equal(2);
  });

  it('suggests names and values, filters by what is clicked, and shows the same to who gets the link', async () => {
    await open('#/alerts?from=now-15m');
    const search = page.getByRole('combobox', { name: 'Search alerts' });
    await search.fill('src');
    await page.getByRole('option', { name: /^srcip:/ }).waitFor();
    await search.press('ArrowDown');
    await search.press('Enter');
    expect(await search.inputValue()).to.equal('srcip:');
    await page.getByRole('option', { name: /^192\.0\.2\.7/ }).waitFor();
    await console.expectClean();
    await search.press('ArrowDown');
    await search.press('Enter');
    await filters().getByText('data.srcip is 192.0.2.7').waitFor();
    await search.fill('invalid -rule_ids:1');
    await search.press('Enter');
    await filters().getByText('rule.id is not 1').waitFor();
    await page.getByText('2 alerts', { exact: true }).waitFor();
    await rows().first().getByRole('link').click();
    await page.getByRole('button', { name: 'Without alerts whose data.srcuser is =cmd' }).click();
    await page.getByText('1 alert', { exact: true }).waitFor();
    await console.expectClean();
    await page.getByRole('button', { name: 'Copy link' }).last().click();
    const link: string = await page.evaluate('navigator.clipboard.readText()');
    await console.close();
    await open(new URL(link).hash);
    await page.getByRole('heading', { name: /sshd: login with a user name/ }).waitFor();
    expect(await rows().count()).to.equal(1);
    expect(await filters().getByRole('listitem').count()).to.equal(4);
    await page.keyboard.press('Escape');
    await page.getByRole('tablist').waitFor({ state: 'detached' });
  });

  it('shows an alert with its rule, the way of its line, and what else there was', async () => {
    await open('#/alerts?srcip=198.51.100.1', { viewport: PHONE });
    await rows().first().getByRole('link').click();
    await page.getByRole('tab', { name: 'Rule', exact: true }).click();
    const source = page.getByRole('region', { name: 'ruleset/rules/0095-sshd_rules.xml' });
    await source.waitFor();
    expect(await source.locator('.marked').first().textContent()).to.include('id="5710"');
    await console.expectClean();
    await page.getByRole('tab', { name: 'Explain' }).click();
    await page.getByText('Rule 5710 (level 5) took the event: an alert.').waitFor();
    await page.getByLabel(/Also what did not match/).check();
    await page.getByText('Did not match:').first().waitFor();
    await console.expectClean();
    await console.expectNoSidewaysScroll();
    await page.getByRole('tab', { name: 'Around' }).click();
    await page.getByRole('table', { name: 'Around' }).getByRole('link').nth(2).waitFor();
    await console.expectClean();
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.getByRole('region', { name: 'JSON' }).getByText('"198.51.100.1"').waitFor();
    await console.expectNoSidewaysScroll();
    await page.getByRole('button', { name: 'Close' }).click();
    await rows().first().waitFor();
    await console.expectClean();
    await console.expectNoSidewaysScroll();
  });

  it('takes a span of time from the chart, and says what is wrong with a search', async () => {
    await open('#/alerts?from=now-15m');
    await page.getByText(/alerts$/).waitFor();
    const box = await page.locator('.u-over').boundingBox();
    if (box === null) throw new Error('there is no chart');
    await page.mouse.move(box.x + box.width * 0.5, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.getByLabel('From', { exact: true }).waitFor();
    expect(place()).to.match(/from=\d{4}-.*&to=\d{4}-/);
    await page.getByLabel('Time', { exact: true }).selectOption('now-1h');
    await page.waitForURL(/from=now-1h$/);
    await console.go('#/alerts?q=nothing');
    await page
      .getByRole('alert')
      .getByText(/Query does not match expected format/)
      .first()
      .waitFor();
    await console.expectClean();
  });

  it('gives all that is found as a file', async () => {
    await open('#/alerts?rule_ids=5710');
    await page.getByRole('button', { name: 'Export' }).click();
    const download = async () => {
      const coming = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download' }).click();
      const path = await (await coming).path();
      await page.getByText(/3 alerts are in the file\. That is all/).waitFor();
      return readFileSync(path, 'utf8');
    };
    const csv = (await download()).trimEnd().split('\r\n');
    await console.expectClean();
    expect(csv).to.have.length(4);
    expect(csv.join('\n')).to.include(`,'=cmd,`);
    await page.getByLabel(/NDJSON/).check();
    const lines = (await download()).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { rule: { id: string } }).rule.id)).to.deep.equal([
      ...['5710', '5710', '5710'],
    ]);
  });

  it('shows alerts as they come, also after the server was away', async () => {
    await open('#/alerts?live=true&rule_ids=5710');
    const state = page.getByRole('status');
    await state.getByText('Live', { exact: true }).waitFor();
    await console.expectClean();
    await home.sendEvents([failed('203.0.113.1')]);
    await rows().filter({ hasText: '203.0.113.1' }).waitFor();
    await console.expectClean();
    await page.getByRole('button', { name: 'Pause' }).click();
    await home.sendEvents([failed('203.0.113.2')]);
    expect(await rows().count()).to.equal(1);
    await page.getByRole('button', { name: 'Pause' }).click();
    await rows().filter({ hasText: '203.0.113.2' }).waitFor();
    await home.halt();
    await state.getByText('Connection lost').waitFor();
    await home.run();
    await home.sendEvents([failed('203.0.113.3')]);
    await rows().filter({ hasText: '203.0.113.3' }).waitFor();
    expect(await rows().count()).to.equal(3);
    expect(console.complaints).to.deep.equal([]);
  });

  it('says so to who may not see alerts', async () => {
    const made = await home.call(
      'POST',
      '/security/users',
      JSON.stringify({ username: 'guest', password: 'Guest-1234' }),
    );
    const { data } = made.json() as { data: { affected_items: { id: number }[] } };
    const found = await home.call('GET', '/security/roles?search=cluster_readonly');
    const roles = (found.json() as { data: { affected_items: { id: number }[] } }).data.affected_items;
    await home.call(
      'POST',
      `/security/users/${String(data.affected_items[0]?.id)}/roles?role_ids=${String(roles[0]?.id)}`,
    );
    console = await ConsolePage.open(browser, home, { place: '#/overview' });
    page = console.page;
    await console.logIn('guest', 'Guest-1234');
    await page.getByText('Your user may not see alerts.').waitFor();
    await page.getByRole('region', { name: 'Daemons' }).getByText('svc-analysisd').waitFor();
    await console.expectClean();
    await console.go('#/alerts?live=true');
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor();
    await page.getByText('Your user may not see alerts.').waitFor();
    await console.expectClean();
  });
});
