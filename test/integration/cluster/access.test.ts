import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { expect } from 'chai';
import { httpRequest, type TestResponse } from '../../support/api/http-request.js';
import { GOOD_PASSWORD } from '../../support/api/security-client.js';
import { basic } from '../../support/api/test-api.js';
import { ClusterHome } from '../../support/cluster/cluster-homes.js';
import { productProgram } from '../../support/daemon/product-program.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';
import { type NatsServers, natsServers } from '../../support/nats/nats-servers.js';
import type { TemporaryHome } from '../../support/temporary-home.js';

/** What is ended at one node ends at the others within this time, milliseconds. */
const ENDS_WITHIN_MS = 2000;

/** svc-clusterd and svc-apid of one manager. */
class Manager {
  readonly node: ClusterHome;

  constructor(name: string, servers: NatsServers) {
    this.node = new ClusterHome(name, servers, {
      prepare: (home) => {
        mkdirSync(home.path('api', 'configuration', 'security'), { recursive: true });
        writeFileSync(home.path('api', 'configuration', 'api.yaml'), 'host: ["127.0.0.1"]\nport: 0\n');
      },
    });
  }

  get home(): TemporaryHome {
    return this.node.home;
  }

  get password(): string {
    return readFileSync(this.home.path('api', 'configuration', 'security', 'initial-admin-password'), 'utf8').trim();
  }

  request(method: string, path: string, authorization: string, body?: object): Promise<TestResponse> {
    return httpRequest({
      port: this.node.daemon('svc-apid').port('api'),
      tls: true,
      method,
      path,
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async login(name: string, password: string): Promise<string | undefined> {
    const answer = await this.request('POST', '/security/user/authenticate?raw=true', basic(name, password));
    return answer.status === 200 ? answer.text : undefined;
  }

  async takes(token: string): Promise<boolean> {
    return (await this.request('GET', '/security/users/me', `Bearer ${token}`)).status === 200;
  }
}

describe('users of two managers that are one', function () {
  this.timeout(120_000);
  const servers = natsServers({ managers: ['n4'] });
  let one: Manager;
  let two: Manager;
  let admin: string;
  let password: string;

  before(async () => {
    one = new Manager('n1', servers());
    two = new Manager('n4', servers());
    await one.node.start('svc-clusterd', 'svc-apid');
    ({ password } = one);
    admin = (await one.login('admin', password)) ?? '';
    await eventually('the first can change users', async () => {
      const answer = await one.request('POST', '/security/roles', `Bearer ${admin}`, { name: 'of-the-first' });
      return answer.status === 200;
    });
    await two.node.start('svc-apid', 'svc-clusterd');
    // It has made users of its own before, whose passwords are others.
    await eventually('the second has joined', () => two.login('admin', password));
  });
  after(async () => {
    await one.node.close();
    await two.node.close();
  });

  it('are made at one and log in at the other; a token that is revoked there ends here within 2 s', async () => {
    expect(two.node.daemon('svc-apid').output).to.match(
      /WARNING: The passwords and run_as of these users are those of the cluster/,
    );
    // A second try finds her.
    if ((await one.login('maria', GOOD_PASSWORD)) === undefined) {
      const made = await one.request('POST', '/security/users', `Bearer ${admin}`, {
        username: 'maria',
        password: GOOD_PASSWORD,
      });
      expect(made.status, made.text).to.equal(200);
    }
    const token = await eventually('she logs in at the second', () => two.login('maria', GOOD_PASSWORD));
    expect(await one.takes(token)).to.equal(true);
    const took: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const next = await eventually('she logs in', () => two.login('maria', GOOD_PASSWORD));
      expect(await one.takes(next)).to.equal(true);
      const answer = await two.request('DELETE', '/security/user/authenticate', `Bearer ${next}`);
      expect(answer.status, answer.text).to.equal(200);
      const at = performance.now();
      await eventually('it has ended', async () => !(await one.takes(next)));
      took.push(performance.now() - at);
    }
    // Of five, since a machine that is busy may stall for one.
    const [, , median] = took.sort((a, b) => a - b);
    expect(median, took.join()).to.be.lessThan(ENDS_WITHIN_MS);
  });

  it('are not put back beside the cluster while svc-apid is away', async () => {
    const control = (...args: string[]) =>
      new TestProgram(productProgram('svc-control'), [...args, '--home', two.home.root]).ended;
    const file = two.home.path('users.json');
    expect((await control('backup-security', file)).code).to.equal(0);
    await two.node.stop('SIGTERM', 'svc-apid');
    const { code, stderr } = await control('restore-security', file);
    expect(code).to.equal(1);
    expect(stderr).to.include('this manager is a node of a cluster, which decides about users');
    await two.node.start('svc-apid');
    await eventually('svc-apid follows the cluster', async () => {
      const { code: done, stdout } = await control('restore-security', file);
      return done === 0 && stdout.includes('All tokens have ended');
    });
    expect(await eventually('maria is there', () => one.login('maria', GOOD_PASSWORD))).to.be.a('string');
    admin = (await one.login('admin', password)) ?? '';
  });

  it('go on by what a node has while NATS is away, and are not changed; a restart keeps what it has', async () => {
    const token = (await two.login('maria', GOOD_PASSWORD)) ?? '';
    await Promise.all(servers().servers.map((server) => server.kill()));
    await eventually('no change is taken', async () => {
      const answer = await two.request('POST', '/security/roles', `Bearer ${token}`, { name: 'x' });
      // She may not; who may is told why not.
      expect(answer.status).to.equal(403);
      const refused = await one.request('PUT', '/security/user/revoke', `Bearer ${admin}`);
      return refused.status === 503 && (refused.json() as { error: number }).error === 3012;
    });
    await two.node.stop('SIGKILL', 'svc-apid');
    await two.node.start('svc-apid');
    expect(await two.takes(token)).to.equal(true);
    expect(await one.takes(token)).to.equal(true);
    expect(await two.login('admin', password)).to.be.a('string');

    await Promise.all(servers().servers.map((server) => server.start()));
    await servers().ready();
    await eventually('changes are taken again', async () => {
      const answer = await one.request('PUT', '/security/user/revoke', `Bearer ${admin}`);
      return answer.status === 200;
    });
    await eventually('all tokens have ended', async () => !(await two.takes(token)) && !(await one.takes(token)));
  });
});
