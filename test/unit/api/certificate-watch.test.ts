import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { CertificateWatch } from '../../../api/certificate-watch.js';
import { makeSelfSignedCertificate } from '../../../lib/tls/self-signed-certificate.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const DAY_MS = 86_400_000;
const MADE = Date.UTC(2026, 0, 1);
const day = (number: number) => MADE + number * DAY_MS;

describe("the end of the API's certificate", () => {
  let home: TemporaryHome;
  let path: string;

  before(async () => {
    home = new TemporaryHome();
    path = home.path('server.crt');
    writeFileSync(path, (await makeSelfSignedCertificate(new Date(MADE), 'host')).certificate);
  });
  after(() => home.remove());

  it('is said at the start, and warned of each day from 30 days before', () => {
    const logger = new RecordingLogger();
    let now = day(0);
    let nextDay = () => {};
    let stopped = false;
    const watch = new CertificateWatch(
      path,
      logger,
      () => now,
      (action, ms) => {
        expect(ms).to.equal(DAY_MS);
        nextDay = action;
        return () => (stopped = true);
      },
    );
    watch.announce();
    expect(logger.lines.splice(0)).to.deep.equal(["info: The API's certificate ends on 2027-01-01, in 365 days."]);
    now = day(334);
    nextDay();
    expect(logger.lines).to.deep.equal([]);
    const advice = "clients refuse it from then on. 'svc-control certificate --renew' makes a new one.";
    for (const [at, when] of [
      [335, 'ends on 2027-01-01, in 30 days'],
      [364, 'ends on 2027-01-01, in 1 day'],
      [364.5, 'ends on 2027-01-01, within a day'],
      [366, 'ended on 2027-01-01'],
    ] as const) {
      now = day(at);
      nextDay();
      expect(logger.lines.splice(0)).to.deep.equal([`warn: The API's certificate ${when}: ${advice}`]);
    }
    watch.stop();
    expect(stopped).to.equal(true);
  });
});
