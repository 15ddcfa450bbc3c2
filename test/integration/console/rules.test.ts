import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { skipWithoutChromium, startChromium } from '../../support/console/chromium.js';
import { ConsoleHome } from '../../support/console/console-home.js';
import { ConsolePage, PHONE } from '../../support/console/console-page.js';

const FILE = 'etc/rules/local_rules.xml';
const LINE = 'Nov 21 10:00:09 web1 sshd[77]: Failed password for alice from 192.0.2.1 port 5012 ssh2';
const TESTS = `- name: the example address
  log: '${LINE}'
  expect: { rule: 100001, level: 5 }
`;

describe('the console: rules', function () {
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

  it('are found, and shown with their source and what stands above and below', async () => {
    const page = await open('#/rules?search=user%20name');
    await page.getByRole('link', { name: '5710', exact: true }).waitFor();
    await console.expectClean();
    await page.getByRole('link', { name: '5710', exact: true }).click();
    await page.getByRole('heading', { name: 'Rule 5710', level: 1 }).waitFor();
    await page.getByRole('region', { name: 'Rules above it' }).getByText('A message of sshd.').waitFor();
    await page.getByRole('region', { name: 'Rules below it' }).getByRole('link', { name: '5712' }).waitFor();
    await page.locator('.marked', { hasText: '<rule id="5710"' }).waitFor();
    expect(await page.getByRole('link', { name: 'Its alerts' }).getAttribute('href')).to.equal(
      '#/alerts?rule_ids=5710',
    );
    await console.expectClean();
    await console.go('#/rules?tab=decoders&search=sshd');
    await page.getByText('sshd', { exact: true }).first().waitFor();
    await console.expectClean();
  });

  it('are changed: checked while somebody types, with the line, tested before they are in force, and seen to work', async () => {
    const page = await open('#/rules?tab=files&kind=tests');
    await page.getByRole('button', { name: 'New file' }).click();
    await page.getByLabel('Name', { exact: true }).fill('own.yml');
    await page.getByRole('button', { name: 'Begin it' }).click();
    await page.getByLabel('etc/tests/own.yml', { exact: true }).fill(TESTS);
    await page.getByRole('button', { name: 'Review and save…' }).click();
    await page.getByRole('dialog').getByText('1 passed, 0 failed').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('etc/tests/own.yml is saved.').waitFor();

    const before = page.url();
    await console.go(`#/rules?tab=files&file=${FILE}`);
    const editor = page.getByLabel(FILE, { exact: true });
    await editor.waitFor();
    const text = await editor.inputValue();
    await editor.fill(text.replace('level="5"', 'level="five"'));
    await page.getByText('The ruleset does not load with it.').waitFor();
    const line = text.slice(0, text.indexOf('level="5"')).split('\n').length;
    await page
      .locator('.problems')
      .getByRole('button', { name: String(line), exact: true })
      .first()
      .waitFor();
    await console.expectClean();
    await page.getByRole('link', { name: 'All files' }).click();
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await console.expectClean();
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await editor.inputValue()).to.include('level="five"');
    // A step back is the one that it was before the link, which is not asked about again.
    const here = page.url();
    await page.evaluate('history.back()');
    await question.waitFor();
    expect(page.url()).to.equal(here);
    await question.getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL(before);
    await page.evaluate('history.forward()');

    await editor.fill(text.replace('level="5"', 'level="8"'));
    await page.getByText('The ruleset loads with it.').waitFor();
    await page.getByRole('button', { name: 'Review and save…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('0 passed, 1 failed').waitFor();
    await dialog.locator('.added', { hasText: 'level="8"' }).waitFor();
    expect(await dialog.locator('.results').textContent()).to.include('level: expected 5, came 8');
    expect(readFileSync(home.home.path(FILE), 'utf8')).to.equal(text);
    await console.expectClean();
    await dialog.getByRole('button', { name: 'Save although tests fail' }).click();
    await page.getByText('That is in force now.').waitFor();

    await home.sendEvents([LINE]);
    const { data } = (await home.call('GET', '/alerts?rule_ids=100001&limit=1')).json() as {
      data: { affected_items: { rule: { level: number } }[] };
    };
    expect(data.affected_items[0]?.rule.level).to.equal(8);
  });

  it('are deleted with a question, and a new list is made', async () => {
    const page = await open('#/rules?tab=lists');
    await page.getByRole('button', { name: 'New file' }).click();
    await page.getByLabel('Name', { exact: true }).fill('hosts');
    await page.getByRole('button', { name: 'Begin it' }).click();
    await page.getByLabel('etc/lists/hosts', { exact: true }).fill('a:b\nno colon\n');
    await page.locator('.problems').getByRole('button', { name: '2', exact: true }).waitFor();
    await page.getByLabel('etc/lists/hosts', { exact: true }).fill('a:b\n');
    await page.getByText('The ruleset loads with it.').waitFor();
    await page.getByRole('button', { name: 'Review and save…' }).click();
    await page
      .getByRole('dialog')
      .getByText(/passed|no tests/)
      .waitFor();
    await page.getByRole('dialog').locator('button').last().click();
    await page.getByText('That is in force now.').waitFor();
    expect(existsSync(home.home.path('etc/lists/hosts'))).to.equal(true);
    await page.getByLabel('etc/lists/hosts', { exact: true }).fill('a:b\nc:unsaved\n');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('etc/lists/hosts is deleted.').waitFor();
    expect(existsSync(home.home.path('etc/lists/hosts'))).to.equal(false);
    await page.getByRole('button', { name: 'New file' }).waitFor();
    expect(await page.getByRole('dialog').count(), 'nobody asks about the text of what is gone').to.equal(0);
  });

  it('are tried on lines, which one session remembers, and say why one did not fire; on a phone in the dark as well', async () => {
    const page = await open('#/rules?tab=logtest&why=5712', { viewport: PHONE, dark: true });
    const invalid = 'Nov 21 10:00:10 web1 sshd[77]: Invalid user bob from 192.0.2.44 port 5012';
    await page.getByLabel('Lines of a log').fill(Array<string>(2).fill(invalid).join('\n'));
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.locator('.tried > li').nth(1).waitFor();
    const latest = page.locator('.tried > li').first();
    await latest.getByText('2 of 8 events of rule 5710').first().waitFor();
    await latest.getByText('How it came to that').click();
    await latest.getByText('Rules', { exact: true }).waitFor();
    await console.expectClean();
    await console.expectNoSidewaysScroll();
    await page.getByRole('button', { name: 'New session' }).click();
    await page.getByText('A session begins with the first line.').waitFor();
    for (const place of ['#/rules', '#/rules/5710', `#/rules?tab=files&file=${FILE}`, '#/rules?tab=files&kind=tests']) {
      await console.go(place);
      await page.locator('table, .code, .editor').first().waitFor();
      await console.expectClean();
      await console.expectNoSidewaysScroll();
    }
  });
});
