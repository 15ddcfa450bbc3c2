import { expect } from 'chai';
import { AuthdClient } from '../../../../api/daemons/authd-client.js';
import { DaemonClient } from '../../../../api/daemons/daemon-client.js';
import { ApiError } from '../../../../api/http/api-error.js';
import type { ApiRequest } from '../../../../api/http/api-request.js';
import { ProblemError } from '../../../../api/http/problem-error.js';
import { BusError } from '../../../../lib/bus/bus-error.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

describe('what clients of the API are told when a daemon fails', () => {
  let home: TemporaryHome;
  beforeEach(() => {
    home = new TemporaryHome();
  });
  afterEach(() => {
    home.remove();
  });

  const request = (isChange: boolean): ApiRequest =>
    ({
      isChange,
      leftMs: 1234.5,
      signal: new AbortController().signal,
      nodeName: (name: string) => name,
    }) as ApiRequest;
  /** Calls that end with an error. */
  function failing(error: BusError, deadlines: (number | undefined)[] = []) {
    const client = {
      call: (_method: string, _params: unknown, { deadlineMs }: { deadlineMs?: number } = {}) => {
        deadlines.push(deadlineMs);
        return Promise.reject(error);
      },
    } as never;
    const calls = (daemon: 'svc-authd' | 'svc-db') => new DaemonClient({ home, node: () => 'n1', daemon, client });
    return {
      authd: new AuthdClient({ calls: calls('svc-authd') as never, authd: client, db: client }),
      db: calls('svc-db'),
    };
  }
  async function told(work: Promise<unknown>): Promise<[number, number | undefined, string]> {
    const error: unknown = await work.then(
      () => expect.fail('it did not fail'),
      (reason: unknown) => reason,
    );
    if (error instanceof ProblemError) return [error.status, error.members.error, error.message];
    if (!(error instanceof ApiError)) throw error;
    return [error.status, error.code, error.message];
  }
  const added = (error: BusError) => told(failing(error).authd.add(request(true), { name: 'web' }));
  const removed = (error: BusError) => told(failing(error).authd.remove(request(true), ['001'], false));
  const changed = (error: BusError, isChange = true) =>
    told(failing(error).db.call(request(isChange), 'x' as never, {} as never));

  const ABSENT = new BusError('unavailable', 'svc-authd is not available');
  const LOST = new BusError('unavailable', 'svc-authd went away', { isUnclear: true });
  const STUCK = new BusError('unresponsive', 'svc-authd does not answer');

  it('is a refusal where svc-authd was not there, and none where it went away with the request', async () => {
    for (const work of [added, removed]) {
      expect(await work(ABSENT)).to.deep.equal([400, 1726, 'Wazuh authd is not running']);
      for (const error of [LOST, STUCK]) {
        expect(await work(error)).to.deep.equal([
          500,
          1017,
          'Some Wazuh daemons are not ready yet in node "n1" (svc-authd->stopped): whether it was carried out is not known',
        ]);
      }
    }
  });

  it('says of changes alone that they may have been made', async () => {
    const late = new BusError('timeout', 'Revision 7 of the cluster is not in force here yet');
    const text = 'Timeout executing API request';
    expect(await changed(late)).to.deep.equal([
      500,
      3021,
      `${text}: Revision 7 of the cluster is not in force here yet; whether it was carried out is not known`,
    ]);
    expect(await changed(late, false)).to.deep.equal([500, 3021, text]);
    expect((await changed(LOST, false))[2]).to.equal(
      'Some Wazuh daemons are not ready yet in node "n1" (svc-db->stopped)',
    );
  });

  it('names the node whose disk is full or broken', async () => {
    expect(await changed(new BusError('disk_full', '/home: no space left'))).to.deep.equal([
      503,
      8005,
      'No space left on the disk of node "n1": svc-db',
    ]);
    expect(await changed(new BusError('disk_failed', 'EIO'))).to.deep.equal([
      500,
      8006,
      'The disk of node "n1" does not take what is to be stored: svc-db',
    ]);
  });

  it('comes when the time of the request is over: the daemon knows until when it is waited for', async () => {
    const deadlines: (number | undefined)[] = [];
    await told(failing(LOST, deadlines).db.call(request(true), 'x' as never, {} as never));
    expect(deadlines).to.deep.equal([1234.5]);
  });
});
