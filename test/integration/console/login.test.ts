import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { httpRequest } from '../../support/api/http-request.js';
import { skipWithoutChromium, startChromium } from '../../support/console/chromium.js';
import { ConsoleHome } from '../../support/console/console-home.js';
import { ConsolePage, PHONE } from '../../support/console/console-page.js';

const READER = { name: 'reader', password: 'Correct-42-horse' };

describe('the console: logging in', function () {
  this.timeout(120_000);
  let home: ConsoleHome;
  let browser: Browser;
  let console: ConsolePage;

  before(async function () {
    skipWithoutChromium(this);
    [home, browser] = await Promise.all([ConsoleHome.start(), startChromium()]);
    await home.addUser(READER, 'readonly');
  });
  after(async () => {
    await browser?.close();
    await home?.stop();
  });
  afterEach(async () => {
    await console?.close();
  });

  it('says what is wrong, then shows the page that was asked for', async () => {
    console = await ConsolePage.open(browser, home, { place: '#/agents' });
    const { page } = console;
    await console.logIn('admin', 'wrong');
    await page.getByRole('alert').filter({ hasText: 'Invalid credentials' }).waitFor();
    await console.expectClean();
    await console.logIn();
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
    await console.expectClean();
    for (const store of ['localStorage', 'sessionStorage']) {
      expect(await page.evaluate(`JSON.stringify(${store})`)).to.equal('{}');
    }
    expect(await page.context().cookies()).to.deep.equal([]);
  });

  it('has every page behind the navigation, on a phone and in the dark as well', async () => {
    for (const options of [{}, { viewport: PHONE, dark: true }]) {
      console = await ConsolePage.open(browser, home, options);
      await console.logIn();
      const { page } = console;
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      for (const name of ['Alerts', 'Agents', 'Groups', 'Rules', 'Manager', 'Overview']) {
        const menu = page.getByRole('button', { name: 'Menu' });
        if (await menu.isVisible()) await menu.click();
        await page.getByRole('link', { name, exact: true }).click();
        await page.getByRole('heading', { name, level: 1 }).waitFor();
        await page.waitForLoadState('networkidle');
        await console.expectClean();
        await console.expectNoSidewaysScroll();
      }
      await console.close();
    }
  });

  it('keeps the page when the session ends, and goes on after the next login', async () => {
    console = await ConsolePage.open(browser, home, { place: '#/groups' });
    const { page } = console;
    await console.logIn();
    await page.getByRole('heading', { name: 'Groups', level: 1 }).waitFor();
    await home.call('DELETE', '/security/user/authenticate');
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Your session has ended').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    expect(await dialog.getByRole('button', { name: 'Close' }).count()).to.equal(0);
    await dialog.getByText('Your session has ended').waitFor();
    await console.expectClean();
    await console.logIn();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
  });

  it('begins anew for another user, and goes on over a place that is none', async () => {
    console = await ConsolePage.open(browser, home, { place: '#/alerts?from=now-999999999w' });
    const { page } = console;
    await console.logIn();
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor();
    await console.go('#/manager?tab=users');
    await page.getByRole('cell', { name: READER.name, exact: true }).waitFor();
    await page.route('**/security/roles*', (route) => route.fulfill({ status: 401, body: '{}' }), { times: 1 });
    await page.getByRole('tab', { name: 'Roles' }).click();
    await page.getByText('Your session has ended').waitFor();
    await console.logIn(READER.name, READER.password);
    await page.getByTitle(`Logged in as ${READER.name}`).waitFor({ state: 'attached' });
    await page.getByRole('tab', { name: 'Users' }).click();
    await page.getByRole('alert').filter({ hasText: 'Your user may not see this.' }).waitFor();
    expect(await page.getByRole('cell', { name: READER.name, exact: true }).count()).to.equal(0);
    await console.expectClean();
  });

  it('is gone where api.yaml says so, and is packed for those who take it', async () => {
    const { port } = new URL(home.url);
    const get = (path: string, encoding: string) =>
      httpRequest({ port: Number(port), tls: true, path, headers: { 'accept-encoding': encoding } });
    const page = await get('/console', 'identity');
    expect(page.headers['content-security-policy'])
      .to.include("default-src 'none'")
      .and.to.include("script-src 'self'");
    expect(page.headers['cache-control']).to.equal('no-store');
    const [, script = ''] = /src="([^"]+)"/.exec(page.text) ?? [];
    const [plain, packed] = [await get(script, 'gzip'), await get(script, 'gzip, br')];
    expect(plain.headers).not.to.have.property('content-encoding');
    expect(packed.headers).to.include({ 'content-encoding': 'br', vary: 'Accept-Encoding' });
    expect(packed.headers['cache-control']).to.include('immutable');
    expect(Number(packed.headers['content-length'])).to.be.lessThan(Number(plain.headers['content-length']) / 2);
  });
});
