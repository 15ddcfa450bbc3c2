import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import type { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import type { ApiList } from '../../support/api/api-list.js';
import { skipWithoutChromium, startChromium } from '../../support/console/chromium.js';
import { ConsoleHome } from '../../support/console/console-home.js';
import { ConsolePage, PHONE } from '../../support/console/console-page.js';
import { addAgent, connectAgent } from '../../support/console/telling-agent.js';
import { eventually } from '../../support/eventually.js';

const READER = { name: 'reader', password: 'Correct-42-horse' };
const NO_LIMIT = 'access:\n  max_request_per_minute: 0\n';
const FAILED_LOGIN =
  'Dec 10 01:02:02 host sshd[1234]: Failed password for invalid user admin from 192.0.2.7 port 41234 ssh2';
/** Milliseconds between keepalives of the agent: what it reports is what the manager believes. */
const NOTIFY_MS = 1000;

describe('the console: groups', function () {
  this.timeout(180_000);
  let home: ConsoleHome;
  let browser: Browser;
  let console: ConsolePage;
  let agent: MinimalAgent;
  let keepalives: NodeJS.Timeout;

  before(async function () {
    skipWithoutChromium(this);
    [home, browser] = await Promise.all([ConsoleHome.start(NO_LIMIT), startChromium()]);
    agent = await connectAgent(home, await addAgent(home, 'web01'));
    keepalives = setInterval(() => agent.keepalive(), NOTIFY_MS);
    await addAgent(home, 'away');
    await home.addUser(READER, 'readonly');
  });
  after(async () => {
    clearInterval(keepalives);
    agent?.close();
    await browser?.close();
    await home?.stop();
  });
  afterEach(async () => {
    await console?.close();
  });

  it('makes one, puts agents into it, and brings them its agent.conf', async () => {
    console = await ConsolePage.open(browser, home, { place: '#/groups' });
    await console.logIn();
    const { page } = console;
    await page.getByRole('link', { name: 'default' }).waitFor();
    await console.expectClean();
    await page.getByRole('button', { name: 'Create a group' }).click();
    const create = page.getByRole('dialog', { name: 'Create a group' });
    const submit = create.getByRole('button', { name: 'Create a group' });
    await create.getByLabel('Name').fill('  ');
    expect(await submit.isDisabled(), 'blanks are no name').to.equal(true);
    await create.getByLabel('Name').fill('default');
    await submit.click();
    const refusal = create.getByRole('alert').filter({ hasText: 'already exists' });
    await refusal.waitFor();
    expect(await create.getByLabel('Name').getAttribute('aria-invalid')).to.equal('true');
    expect(await create.getByLabel('Name').getAttribute('aria-describedby')).to.equal(await refusal.getAttribute('id'));
    await console.expectClean();
    await create.getByLabel('Name').fill('web');
    await submit.click();
    await page.getByRole('heading', { name: 'web', level: 1 }).waitFor();

    await page.getByRole('tab', { name: 'Agents' }).click();
    await page.getByRole('button', { name: 'Add agents' }).click();
    const add = page.getByRole('dialog', { name: 'Add agents' });
    await add.getByLabel('web01 (001)').check();
    await add.getByLabel('away (002)').check();
    await console.expectClean();
    await add.getByRole('button', { name: 'Add agents' }).click();
    await page.getByText('1 of 2 agents have the current files. 1 is not connected').waitFor();
    await console.expectClean();

    agent.event('/var/log/auth.log', FAILED_LOGIN);
    await home.sendEvents([FAILED_LOGIN]);
    const found = async () => (await home.call('GET', '/alerts?agent_groups=web&rule_ids=5710')).json() as ApiList;
    await eventually('its alert is found', async () => (await found()).data.total_affected_items > 0, 30_000);
    await page.getByRole('link', { name: 'Alerts of its agents' }).click();
    await page.getByRole('list', { name: 'Filters' }).getByText('agent.group is web').waitFor();
    const rows = page.getByRole('table', { name: 'Alerts, one a line' }).getByRole('row');
    await rows.filter({ hasText: 'web01' }).filter({ hasText: 'sshd: login' }).waitFor();
    expect(await rows.filter({ hasText: 'sshd: login' }).count(), 'that of the manager is not among them').to.equal(1);
    await console.expectClean();
    const search = page.getByRole('combobox', { name: 'Search alerts' });
    await search.fill('agent_groups:def');
    await page.getByRole('option', { name: 'default' }).click();
    await page.getByRole('list', { name: 'Filters' }).getByText('agent.group is default').waitFor();
    await console.go('#/groups/web');

    await page.getByRole('tab', { name: 'agent.conf' }).click();
    const editor = page.getByLabel('agent.conf of the group');
    const save = page.getByRole('button', { name: 'Review and save' });
    await editor.fill(
      '<agent_config>\n  <syscheck>\n    <frequency>often</frequency>\n  </syscheck>\n</agent_config>\n',
    );
    await page.getByText("(1235): Invalid value for element 'frequency': often.").waitFor();
    expect(await save.isDisabled()).to.equal(true);
    await console.expectClean();
    await page.getByRole('button', { name: '3', exact: true }).click();
    expect(await editor.evaluate('document.activeElement.selectionStart')).to.equal(
      '<agent_config>\n  <syscheck>\n'.length,
    );
    await editor.fill('<agent_config>\n<remote/><labels><label key="site">lab</label></labels>\n</agent_config>\n');
    await page.getByText("Line 2: Section 'remote' is not taken from the manager; it is ignored.").waitFor();
    await page.getByRole('tab', { name: 'Files' }).click();
    await page.getByRole('tab', { name: 'agent.conf' }).click();
    await save.click();
    const review = page.getByRole('dialog', { name: 'What goes out' });
    await review.getByText('+    <label key="site">lab</label>').waitFor();
    await review.getByText('2 agents get this').waitFor();
    await console.expectClean();
    const pushes = agent.pushes.length;
    await review.getByRole('button', { name: 'Save and send' }).click();
    await review.waitFor({ state: 'detached' });
    await agent.until('the new files', () => agent.pushes.length > pushes);
    await page.getByText('1 of 2 agents have the current files. 1 is not connected').waitFor();
    expect(readFileSync(home.home.path('etc/shared/web/agent.conf'), 'utf8')).to.include('\n    <label key="site">lab');
    expect(await page.getByRole('button', { name: 'Discard changes' }).isDisabled()).to.equal(true);
  });

  it('says when somebody else has changed the file meanwhile', async () => {
    await home.call('PUT', '/groups/default/configuration', '<agent_config/>', 'application/xml');
    console = await ConsolePage.open(browser, home, { place: '#/groups/default?tab=configuration' });
    await console.logIn();
    const { page } = console;
    await page.getByLabel('agent.conf of the group').fill('<agent_config name="x"/>');
    await page.getByText('No mistakes.').waitFor();
    writeFileSync(home.home.path('etc/shared/default/agent.conf'), '<agent_config name="other"/>\n');
    await page.getByRole('button', { name: 'Review and save' }).click();
    const review = page.getByRole('dialog', { name: 'What goes out' });
    await review.getByText('Somebody else has changed it meanwhile').waitFor();
    await review.getByText('-<agent_config name="other"/>').waitFor();
    await review.getByText('+<agent_config name="x"/>').waitFor();
    await console.expectClean();
    await review.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'Groups', exact: true }).click();
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await question.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Groups', level: 1 }).waitFor();
  });

  it('shows its files, takes agents out, and is removed', async () => {
    await home.call('POST', '/groups', '{"group_id": "old"}');
    await home.call('PUT', '/agents/group?group_id=old&agents_list=001,002');
    console = await ConsolePage.open(browser, home, { place: '#/groups/old?tab=files' });
    await console.logIn();
    const { page } = console;
    await page.getByRole('button', { name: 'agent.conf', exact: true }).click();
    await page.getByRole('dialog').getByText('<agent_config>').waitFor();
    await console.expectClean();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Agents' }).click();
    await page.getByLabel('Select away').check();
    await page.getByRole('button', { name: 'Take out' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take out' }).click();
    await page.getByLabel('Select away').waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: 'agent.conf' }).click();
    await page.getByLabel('agent.conf of the group').fill('<agent_config name="unsaved"/>');
    await page.getByText('No mistakes.').waitFor();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove old?' });
    await dialog.getByText('Its files are deleted. 1 agent leaves it').waitFor();
    await console.expectClean();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Removed: old.').waitFor();
    await page.getByRole('link', { name: 'default' }).waitFor();
    expect(await page.getByRole('link', { name: 'old' }).count()).to.equal(0);
    expect(await page.getByRole('dialog').count(), 'nobody asks about the text of what is gone').to.equal(0);
  });

  it('lets who may only look read everything, and is good on a phone in the dark', async () => {
    console = await ConsolePage.open(browser, home, { place: '#/groups', viewport: PHONE, dark: true });
    const { page } = console;
    await console.logIn(READER.name, READER.password);
    await page.getByRole('link', { name: 'default' }).waitFor();
    await console.expectClean();
    await console.expectNoSidewaysScroll();
    for (const [tab, sight] of [
      ['members', 'web01'],
      ['files', 'merged.mg'],
      ['configuration', 'Your user may not change it.'],
    ] as const) {
      await console.go(`#/groups/default?tab=${tab}`);
      await page.getByRole('main').getByText(sight).first().waitFor();
      await console.expectNoSidewaysScroll();
    }
    await console.expectClean();
    expect(await page.getByLabel('agent.conf of the group').getAttribute('readonly')).not.to.equal(null);
    expect(await page.getByRole('button', { name: /Create|Remove|Add agents|Review/ }).count()).to.equal(0);
  });
});
