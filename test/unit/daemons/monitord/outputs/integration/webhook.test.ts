import { expect } from 'chai';
import { AlertFilter } from '../../../../../../daemons/monitord/outputs/alert-filter.js';
import { IntegrationReceiver } from '../../../../../../daemons/monitord/outputs/integration/integration-receiver.js';
import {
  type IntegrationSettings,
  WebhookSender,
} from '../../../../../../daemons/monitord/outputs/integration/integration-sender.js';
import { eventually } from '../../../../../support/eventually.js';
import { sampleAlert } from '../../../../../support/monitord/alert-files.js';
import { ANY, batchOf, RecordedDelivery } from '../../../../../support/monitord/recorded-delivery.js';
import { WebReceiver } from '../../../../../support/monitord/web-receiver.js';

const ALERT = sampleAlert();
const withLevel = (level: number) => sampleAlert({ rule: { level, id: '1', description: 'd', groups: ['a', 'b'] } });

describe('a webhook', () => {
  let web: WebReceiver;
  beforeEach(async () => {
    web = new WebReceiver();
    await web.start();
  });
  afterEach(() => web.stop());

  const receiver = (settings: Partial<IntegrationSettings>): IntegrationReceiver =>
    new IntegrationReceiver(
      new WebhookSender({
        name: 'webhook',
        apiKey: '',
        hookUrl: web.url,
        options: '',
        alertFormat: 'json',
        maxLog: 165,
        timeout: 5,
        retries: 3,
        ...settings,
      }),
      new AlertFilter(ANY),
    );

  async function deliver(to: IntegrationReceiver, ...alerts: Record<string, unknown>[]): Promise<RecordedDelivery> {
    const delivery = new RecordedDelivery();
    await to.deliver(batchOf(...alerts), delivery);
    return delivery;
  }
  const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

  it('gets what Slack takes', async () => {
    const to = receiver({ name: 'slack', options: '{"pretext":"From us","channel":"#x"}' });
    const delivery = await deliver(to, ALERT, withLevel(4), withLevel(5), withLevel(7), withLevel(8));
    expect(web.posts[0]!.path).to.equal('/hook/secret');
    expect(web.posts[0]!.headers['content-type']).to.equal('application/json');
    expect(web.posts[0]!.body).to.deep.equal({
      attachments: [
        {
          color: 'danger',
          pretext: 'From us',
          title: 'Many failures',
          text: ALERT['full_log'],
          fields: [
            { title: 'Agent', value: '(007) - web' },
            { title: 'Location', value: '/var/log/auth.log' },
            { title: 'Rule ID', value: '5712 _(Level 10)_' },
          ],
          ts: '1749118283.0',
          channel: '#x',
        },
      ],
    });
    const colors = web.posts.map(({ body }) => (body as { attachments: { color: string }[] }).attachments[0]!.color);
    expect(colors).to.deep.equal(['danger', 'good', 'warning', 'warning', 'danger']);
    expect(delivery).to.deep.include({ sentCount: 5, settled: 5 });
  });

  it('gets what Shuffle takes', async () => {
    await deliver(receiver({ name: 'shuffle' }), ALERT);
    expect(web.posts[0]!.body).to.deep.equal({
      severity: 3,
      pretext: 'WAZUH Alert',
      title: 'Many failures',
      text: ALERT['full_log'],
      rule_id: '5712',
      timestamp: ALERT['timestamp'],
      id: '1749118283.0',
      all_fields: ALERT,
    });
  });

  it('gets what PagerDuty takes, with the whole ladder of severities', async () => {
    const levels = [6, 7, 9, 10, 12, 13];
    await deliver(receiver({ name: 'pagerduty', apiKey: 'key' }), ALERT, ...levels.map(withLevel));
    expect(web.posts[0]!.body).to.deep.equal({
      routing_key: 'key',
      event_action: 'trigger',
      dedup_key: 'mgr.example.test 1749118283.0',
      payload: {
        summary: 'Many failures',
        timestamp: ALERT['timestamp'],
        source: 'web',
        severity: 'error',
        group: 'sshd, auth',
        custom_details: ALERT,
      },
      client: 'Security Manager',
    });
    const severities = web.posts
      .slice(1)
      .map(({ body }) => (body as { payload: { severity: string } }).payload.severity);
    expect(severities).to.deep.equal(['info', 'warning', 'warning', 'error', 'error', 'critical']);
  });

  it('gets the alert itself, with a token', async () => {
    await deliver(receiver({ apiKey: 'token', options: '{"from":"mgr"}' }), ALERT);
    expect(web.posts[0]!.body).to.deep.equal({ ...ALERT, from: 'mgr' });
    expect(web.posts[0]!.headers.authorization).to.equal('Bearer token');
  });

  it('fails without its path where the answer is not 2xx, a redirect too', async () => {
    for (const status of [302, 404, 429, 500]) {
      web.answer = (_post, response) => response.writeHead(status, { location: web.url }).end('no\nsuch team');
      const failure = await failureOf(deliver(receiver({}), ALERT));
      expect(failure)
        .to.be.an('error')
        .with.property('message')
        .that.matches(new RegExp(`^127.0.0.1:\\d+ answered ${String(status)}: no such team$`));
    }
    expect(web.posts).to.have.length(4);
  });

  it('fails where there is no answer in time, or none at all', async () => {
    web.answer = () => {};
    const failure = await failureOf(deliver(receiver({ timeout: 0.05 }), ALERT));
    expect(failure).to.be.an('error').with.property('message').that.includes('did not answer within 0.05 s');
    const refused = await failureOf(deliver(receiver({ hookUrl: 'http://127.0.0.1:1/secret' }), ALERT));
    expect(refused).to.be.an('error').with.property('message').that.includes('ECONNREFUSED').and.not.includes('secret');
  });

  it('gives up at the end of a delivery', async () => {
    web.answer = () => {};
    const delivery = new RecordedDelivery();
    const failure = failureOf(receiver({}).deliver(batchOf(ALERT), delivery));
    await eventually('it was asked', () => web.posts.length === 1);
    delivery.expire();
    expect(await failure).to.have.property('message', 'nothing was taken in time');
  });

  it('passes over an alert that is refused when the next one is taken, and none while nothing is', async () => {
    let away = true;
    web.answer = ({ body }, response) => {
      response.writeHead(away || (body as { n?: number }).n === 1 ? 400 : 200).end('bad');
    };
    const to = receiver({});
    const alerts = [sampleAlert({ n: 1 }), sampleAlert({ n: 2 }), sampleAlert({ n: 3 })];
    expect(await failureOf(deliver(to, ...alerts))).to.be.an('error');
    expect(await failureOf(deliver(to, alerts[0]!))).to.be.an('error');
    away = false;
    const delivery = await deliver(to, ...alerts);
    expect(delivery).to.deep.include({ sentCount: 2, settled: 3 });
    expect(delivery.rejections).to.have.length(1);
    expect(delivery.rejections[0]).to.match(/answered 400: bad/);
  });
});
