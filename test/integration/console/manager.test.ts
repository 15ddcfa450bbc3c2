import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { skipWithoutChromium, startChromium } from '../../support/console/chromium.js';
import { ConsoleHome } from '../../support/console/console-home.js';
import { ConsolePage, PHONE } from '../../support/console/console-page.js';

const PASSWORD = 'Reader-42-password';

describe('the console: the manager', function () {
  this.timeout(300_000);
  let home: ConsoleHome;
  let browser: Browser;
  let console: ConsolePage;

  before(async function () {
    skipWithoutChromium(this);
    [home, browser] = await Promise.all([ConsoleHome.start(), startChromium()]);
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
    console.page.setDefaultTimeout(120_000);
    await console.logIn();
    return console.page;
  };

  it('shows daemons, log, configuration and statistics, on a phone as well', async () => {
    for (const options of [{}, { viewport: PHONE, dark: true }]) {
      const page = await open('#/manager', options);
      await page.getByRole('row', { name: 'svc-analysisd running' }).waitFor();
      await console.expectClean();
      await console.expectNoSidewaysScroll();
      const places: [string, string][] = [
        ['log&search=supervisor%20started', 'supervisor started'],
        ['configuration', 'As daemons take them'],
        ['configuration&view=inForce&part=analysis/alerts', 'log_alert_level'],
        ['statistics', 'Events a second'],
        ['roles', 'readonly'],
        ['api', 'experimental_features'],
      ];
      for (const [place, text] of places) {
        await console.go(`#/manager?tab=${place}`);
        await page.getByText(text).first().waitFor();
        await console.expectClean();
        await console.expectNoSidewaysScroll();
      }
      await console.close();
    }
  });

  it('is about a node of a cluster that is chosen, by its address, and names one that is not heard', async () => {
    const page = await open('#/manager');
    await page.getByRole('row', { name: 'svc-analysisd running' }).waitFor();
    expect(await page.getByLabel('Node', { exact: true }).count(), 'a manager that is alone').to.equal(0);
    await console.go('#/manager?node=left');
    await page.getByRole('main').getByRole('alert').first().waitFor();
    await console.expectClean();
    await page.getByLabel('Node', { exact: true }).selectOption('This manager');
    await page.getByRole('row', { name: 'svc-analysisd running' }).waitFor();
    expect(page.url()).to.match(/#\/manager$/);
    await answerAsCluster(page);
    await console.go('#/overview');
    await page.getByRole('list', { name: 'Nodes of the cluster' }).getByText('not heard').waitFor();
    await page.getByText('Daemons of node01, which answers here:').waitFor();
    await console.expectClean();
    await page.getByRole('link', { name: 'node02' }).click();
    await page.getByRole('row', { name: 'svc-remoted failed' }).waitFor();
    const node = page.getByLabel('Node', { exact: true });
    expect(await node.inputValue()).to.equal('node02');
    await console.expectClean();
    await page.getByRole('tab', { name: 'Log' }).click();
    await page.getByText('a line of node02').waitFor();
    await page.getByRole('tab', { name: 'Configuration' }).click();
    await page.getByRole('cell', { name: 'global.logall' }).waitFor();
    await node.selectOption('node03');
    await page.getByRole('alert').filter({ hasText: 'node03: it is not heard' }).waitFor();
    expect(page.url()).to.include('node=node03');
    await console.expectClean();
    await page.goBack();
    await page.getByRole('cell', { name: 'global.logall' }).waitFor();
    const view = page.getByLabel('What is shown', { exact: true });
    await view.selectOption('file');
    await page.getByLabel('Main configuration', { exact: true }).fill('<manager_config></manager_config>');
    for (const [field, shown, other] of [
      [node, 'node02', 'node03'],
      [view, 'file', 'differences'],
    ] as const) {
      await field.selectOption(other);
      const question = page.getByRole('dialog', { name: 'Leave without saving?' });
      await question.getByRole('button', { name: 'Cancel' }).click();
      await question.waitFor({ state: 'detached' });
      expect(await field.inputValue(), 'what the page is about').to.equal(shown);
    }
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await view.selectOption('differences');
    await page.getByRole('cell', { name: 'global.logall' }).waitFor();
    await page.setViewportSize(PHONE);
    await console.expectNoSidewaysScroll();
    await page.getByRole('tab', { name: 'Users' }).click();
    await page.getByRole('button', { name: 'New user' }).waitFor();
    expect(await node.count(), 'users are those of all nodes').to.equal(0);
  });

  it('says where the configuration differs, checks a new one, and shows what changes before it is saved', async () => {
    const page = await open('#/manager?tab=configuration&search=syscheck.disabled');
    await page.getByRole('cell', { name: 'syscheck.disabled' }).waitFor();
    await console.go('#/manager?tab=configuration&view=file');
    const editor = page.getByLabel('Main configuration', { exact: true });
    await editor.waitFor();
    const text = await editor.inputValue();
    const dialog = page.getByRole('dialog');
    await editor.fill(text.replace('<port>0</port>', '<port>many</port>'));
    await page.getByRole('button', { name: 'Review and save…' }).click();
    await dialog.locator('.added', { hasText: 'many' }).waitFor();
    await dialog.getByRole('button', { name: 'Check and save' }).click();
    await dialog.getByRole('alert').waitFor();
    await console.expectClean();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.problems li').first().waitFor();
    await editor.fill(text.replace('<alerts_log>yes', '<alerts_log>no'));
    await page.getByRole('button', { name: 'Review and save…' }).click();
    await dialog.getByRole('button', { name: 'Check and save' }).click();
    await page.getByText('The configuration is saved.').waitFor();
    const stored = (await home.call('GET', '/manager/configuration?raw=true')).text;
    expect(stored).to.include('<alerts_log>no');
  });

  it('makes a user with a role; what it may not do is said, and not offered', async () => {
    const page = await open('#/manager?tab=users');
    await page.getByRole('button', { name: 'New user' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('reader');
    await dialog.getByLabel('Password', { exact: true }).fill('short');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('alert').waitFor();
    await console.expectClean();
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('User reader is there.').waitFor();
    await page.getByRole('button', { name: 'Roles: reader' }).click();
    await dialog.getByLabel('readonly', { exact: true }).check();
    await dialog.getByRole('button', { name: 'Change' }).click();
    await page.getByRole('cell', { name: 'readonly' }).waitFor();
    await page.getByRole('button', { name: 'May do: reader' }).click();
    await dialog.getByText('agent:read').first().waitFor();
    await console.expectClean();
    await console.close();

    console = await ConsolePage.open(browser, home, { place: '#/manager' });
    const { page: theirs } = console;
    theirs.setDefaultTimeout(120_000);
    await console.logIn('reader', PASSWORD);
    await theirs.getByRole('row', { name: 'svc-analysisd running' }).waitFor();
    expect(await theirs.getByRole('button', { name: 'Restart' }).isDisabled()).to.equal(true);
    await console.go('#/manager?tab=users');
    await theirs.getByRole('alert').filter({ hasText: 'Your user may not see this.' }).waitFor();
    expect(await theirs.getByRole('button', { name: 'New user' }).isDisabled()).to.equal(true);
    await console.expectClean();
    await console.go('#/manager?tab=configuration&view=file');
    await theirs.getByText('Your user may not change the configuration').waitFor();
    await console.go('#/rules?tab=files&file=etc/rules/local_rules.xml');
    await theirs.getByText('Your user may not change these files.').waitFor();
    await console.go('#/rules?tab=logtest');
    await theirs.getByText('Your user may not test lines.').waitFor();
    await console.expectClean();
    await console.close();

    const again = await open('#/manager?tab=users');
    await again.getByRole('button', { name: 'Delete: reader' }).click();
    await again.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await again.getByText('User reader is deleted.').waitFor();
  });

  it('restarts the manager under the open page, which goes on when it is back', async () => {
    // Any port was taken at first; this page knows that one alone.
    const { port } = new URL(home.url);
    writeFileSync(home.home.path('api/configuration/api.yaml'), `host: ['127.0.0.1']\nport: ${port}\n`);
    const page = await open('#/manager');
    await page.getByRole('row', { name: 'svc-analysisd running' }).waitFor();
    await page.getByRole('button', { name: 'Restart' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click();
    await page.getByText('The manager restarts.').waitFor();
    await page.getByText('The manager is back.').waitFor();
    await page.getByRole('row', { name: 'svc-analysisd running' }).waitFor();
    await console.expectClean();
  });
});

/** Has a page see the manager as the node of a cluster; of its operations on nodes those that it is asked for are answered. */
async function answerAsCluster(page: Page): Promise<void> {
  const list = (...items: unknown[]) => ({
    data: { affected_items: items, total_affected_items: items.length, failed_items: [], total_failed_items: 0 },
  });
  const health = list({ info: { name: 'node01', type: 'master' } }, { info: { name: 'node02', type: 'worker' } });
  const away = { error: { code: 3022, message: 'node03: it is not heard' }, id: ['node03'] };
  const line = { timestamp: '2026-05-01T10:00:00Z', tag: 'svc-db', level: 'info', description: 'a line of node02' };
  const answers: Readonly<Record<string, unknown>> = {
    '/cluster/status': { data: { enabled: 'yes', running: 'yes' } },
    '/cluster/local/info': list({ node: 'node01', cluster: 'demo', type: 'master' }),
    '/cluster/healthcheck': { data: { ...health.data, failed_items: [away], total_failed_items: 1 } },
    '/cluster/node02/status': list({ 'svc-remoted': 'failed' }),
    '/cluster/node02/info': list({
      version: 'v1',
      path: '/opt',
      max_agents: '1',
      tz_name: 'UTC',
      tz_offset: '+0000',
      uuid: null,
    }),
    '/cluster/node02/logs/summary': list(),
    '/cluster/node02/logs': list(line),
    '/cluster/node02/configuration': '<manager_config/>\n',
    '/cluster/node02/configuration/differences': list({
      source: 'etc/manager.conf',
      option: 'global.logall',
      value: true,
    }),
  };
  await page.route('**/cluster/**', async (route) => {
    const answer = answers[new URL(route.request().url()).pathname];
    if (typeof answer === 'string') return route.fulfill({ contentType: 'application/xml', body: answer });
    if (answer !== undefined) return route.fulfill({ json: answer });
    const detail = 'The node of the cluster is not available: node03: it is not heard';
    return route.fulfill({ status: 500, json: { title: 'Cluster error', detail, error: 3022 } });
  });
}
