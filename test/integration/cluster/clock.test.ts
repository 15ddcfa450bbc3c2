import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { NatsLink } from '../../../daemons/clusterd/nats/nats-link.js';
import { clusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { eventually } from '../../support/eventually.js';
import { natsServers } from '../../support/nats/nats-servers.js';
import { RecordingLogger } from '../../support/recording-logger.js';

const DAY_MS = 86_400_000;

describe('a connection to NATS of a host whose clock is wrong', function () {
  this.timeout(120_000);
  const servers = natsServers({ servers: 1 });
  const trueNow = Date.now;
  let skew = 0;
  let link: NatsLink;

  before(() => {
    Date.now = () => trueNow() + skew;
    const seed = readFileSync(servers().files('n1').credential).subarray(0, 58);
    const settings = { servers: servers().urls, tls: servers().tls, seed, name: 'n1' };
    link = new NatsLink({ ...settings, inboxPrefix: clusterSubjects('test').inbox('n1') }, new RecordingLogger());
  });
  after(async () => {
    Date.now = trueNow;
    await link.stop();
  });

  it('is mended soon after the clock was a day ahead and is set right', async () => {
    skew = DAY_MS;
    link.start();
    await eventually('it is there', () => link.connected);
    const first = link.session();
    skew = 0;
    const [server] = servers().servers;
    await server?.kill();
    await eventually('it is lost', () => !link.connected);
    await server?.start();
    await eventually('it is there again', () => link.connected, 60_000);
    expect(link.session()).not.to.equal(first);
  });
});
