import { copyFileSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { variedAlert } from '../../support/db/alert-kit.js';
import { eventually } from '../../support/eventually.js';
import { AlertFiles } from '../../support/monitord/alert-files.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const PATIENT = { deadlineMs: 30_000 };
/** More than a segment has. */
const MANY = 66_000;

describe('Alerts that can be searched', () => {
  let home: TemporaryHome;
  let daemon: RunningDaemon | undefined;
  let client: RequestClient<typeof dbContract>;
  let files: AlertFiles;

  beforeEach(() => {
    home = new TemporaryHome();
    configure('');
    copyFileSync(
      fileURLToPath(new URL('etc/internal_options.conf', productRoot())),
      home.path('etc', 'internal_options.conf'),
    );
    mkdirSync(home.path('logs', 'alerts'));
    files = new AlertFiles(home.path('logs', 'alerts'));
    client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  });

  afterEach(async () => {
    client.close();
    await daemon?.stop('SIGKILL');
    files.close();
    home.remove();
  });

  const configure = (sections: string): void => {
    writeFileSync(home.path('etc', 'manager.conf'), `<manager_config>${sections}</manager_config>`);
  };
  const start = async (): Promise<void> => {
    daemon = await RunningDaemon.start('svc-db', home);
  };
  const stats = () => client.call('alerts.stats', {}, PATIENT);
  const reach = (count: number) =>
    eventually(`${String(count)} alerts are in the store`, async () => (await stats()).alerts >= count);

  /** Numbers of all alerts, in their order. */
  async function allNumbers(): Promise<number[]> {
    const found: number[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await client.call(
        'alerts.search',
        { order: 'asc', limit: 500, ...(cursor === undefined ? {} : { cursor }) },
        PATIENT,
      );
      for (const { text } of page.alerts) found.push(Number(/ port (\d+)"/.exec(text)?.[1]));
      if (page.cursor === null) return found;
      ({ cursor } = page);
    }
  }

  it('are there once each, whenever svc-db is killed', async () => {
    let written = 0;
    const write = (count: number): void => {
      files.write(...Array.from({ length: count }, (_none, index) => variedAlert(written + index)));
      written += count;
    };
    write(MANY);
    for (const share of [0.3, 0.9, 1]) {
      await start();
      await reach(Math.floor(share * MANY));
      write(1000);
      await daemon?.stop('SIGKILL');
    }
    await start();
    await reach(written);
    expect((await stats()).segments, 'a segment is full').to.equal(1);
    const numbers = await allNumbers();
    expect(numbers).to.have.length(written);
    expect(numbers.every((number, index) => number === index)).to.equal(true);

    await daemon?.stop('SIGKILL');
    const [name = ''] = readdirSync(home.path('queue', 'db', 'alerts'));
    truncateSync(join(home.path('queue', 'db', 'alerts'), name), 1_000_000);
    await start();
    await reach(written);
    expect(await allNumbers(), 'a damaged segment is made anew').to.deep.equal(numbers);
    expect(daemon?.output).to.match(/ERROR: The alert store: '.*' is damaged/);
  }).timeout(120_000);

  it('are found while they come, and answered for as the contract says', async () => {
    await start();
    const none = await client.call('alerts.follow', { after: 'end' }, PATIENT);
    expect(none.alerts).to.deep.equal([]);
    files.write(variedAlert(1));
    await reach(1);
    const { cursor } = await client.call('alerts.follow', { after: 'end' }, PATIENT);
    const followed = client.call('alerts.follow', { after: cursor ?? 'end', waitMs: 20_000, level: 9 }, PATIENT);
    files.write(variedAlert(0), variedAlert(2), variedAlert(4));
    const { alerts } = await followed;
    expect(alerts.map(({ text }) => (JSON.parse(text) as { rule: { level: number } }).rule.level)).to.deep.equal([10]);

    const [alert] = alerts;
    expect(alert?.id).to.match(/^20250605-000-\d+$/);
    const own = (JSON.parse(alert?.text ?? '') as { id: string }).id;
    for (const id of [alert?.id ?? '', own]) {
      expect(await client.call('alerts.get', { id }, PATIENT)).to.deep.equal(alert);
    }
    await reach(4);
    const page = await client.call('alerts.search', { count: true, select: ['rule.level', 'agent'] }, PATIENT);
    expect(page.alerts.map(({ text }) => JSON.parse(text) as unknown)).to.deep.equal(
      [4, 2, 0, 1].map((number) => ({ rule: { level: (number * 5) % 16 }, agent: variedAlert(number)['agent'] })),
    );
    expect([page.total, page.cursor]).to.deep.equal([{ count: 4, exact: true }, null]);
    const from = Date.UTC(2025, 5, 5);
    const histogram = await client.call(
      'alerts.histogram',
      { from, to: from + 6000, buckets: 3, by: 'rule.level' },
      PATIENT,
    );
    expect(histogram).to.deep.equal({
      interval: 2000,
      buckets: [
        {
          time: from,
          count: 2,
          by: [
            { value: 0, count: 1 },
            { value: 5, count: 1 },
          ],
        },
        { time: from + 2000, count: 1, by: [{ value: 10, count: 1 }] },
        { time: from + 4000, count: 1, by: [{ value: 4, count: 1 }] },
      ],
      total: { count: 4, exact: true },
    });
    const top = await client.call('alerts.top', { field: 'agent.id', limit: 1, agents: ['000', '002'] }, PATIENT);
    expect(top).to.deep.equal({ values: [{ value: '000', count: 2 }], total: { count: 3, exact: true }, missing: 0 });
    const nobodys = await client.call('alerts.search', { among: { group: ['nobody'] }, count: true }, PATIENT);
    expect(nobodys, 'of a group that there is not').to.deep.include({ alerts: [], total: { count: 0, exact: true } });
    const refusal = async (params: object): Promise<unknown> =>
      client.call('alerts.search', params, PATIENT).catch((error: unknown) => (error as { code: string }).code);
    expect(await refusal({ search: '"open' })).to.equal('bad_search');
    expect(await refusal({ q: 'rule.level' })).to.equal('query_1407');
    const hidden = client.call('alerts.get', { id: own, agents: ['003'] }, PATIENT);
    expect(await hidden.catch((error: unknown) => (error as { code: string }).code)).to.equal('unknown_alert');
  });

  it('are none where the store is off, and a WARNING says when there is no alerts.json', async () => {
    configure('<alert_store><enabled>no</enabled></alert_store>');
    await start();
    files.write(variedAlert(0));
    const refused = await client.call('alerts.search', {}, PATIENT).catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'disabled');
    expect(await stats()).to.include({ enabled: false, alerts: 0 });
    await daemon?.stop();
    configure('<global><jsonout_output>no</jsonout_output></global>');
    await start();
    await eventually('the warning', () => /WARNING: Alerts cannot be searched/.test(daemon?.output ?? ''));
    await daemon?.stop();
    configure('<alert_store><keep_days>1d</keep_days></alert_store>');
    const failure = await start().catch((error: unknown) => String(error));
    expect(failure).to.include('keep_days').and.include('manager.conf');
  });
});
