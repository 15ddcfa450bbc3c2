import { expect } from 'chai';
import { EnrollmentLimits } from '../../../../daemons/authd/enrollment-limits.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

const DAY_MS = 86_400_000;

describe('limits of enrolment', () => {
  let now: number;
  let logger: RecordingLogger;
  let rates: { perMinute: number; perDay: number };
  let limits: EnrollmentLimits;
  beforeEach(() => {
    now = 0;
    logger = new RecordingLogger();
    rates = { perMinute: 60, perDay: 100 };
    limits = new EnrollmentLimits(
      () => rates,
      logger,
      () => now,
    );
  });
  const admitted = (address: string, count: number) =>
    Array.from({ length: count }, () => limits.refusal(address)).filter((refusal) => refusal === undefined).length;

  it('let so many requests of an address through at once, then as many as come in by and by', () => {
    expect(admitted('192.0.2.1', 100)).to.equal(60);
    expect(admitted('192.0.2.2', 1), 'another address').to.equal(1);
    now += 10_000;
    expect(admitted('192.0.2.1', 100)).to.equal(10);
    now += DAY_MS;
    expect(admitted('192.0.2.1', 100)).to.equal(60);
    expect(limits.refused).to.equal(40 + 90 + 40);
  });

  it('stop an address that has got so many keys in a day', () => {
    for (let minute = 0; minute < 3; minute += 1) {
      for (let count = 0; count < 50; count += 1) {
        if (limits.refusal('2001:db8::1') === undefined) limits.given(`2001:db8::${count + 1}`);
      }
      now += 60_000;
    }
    expect(limits.refusal('2001:db8::99')).to.equal('Too many enrollments from this address');
    expect(limits.refused).to.equal(51);
    now = DAY_MS;
    expect(limits.refusal('2001:db8::99')).to.equal(undefined);
  });

  it('are said once, with a count, and can be switched off', () => {
    admitted('192.0.2.1', 63);
    now += 60_000;
    admitted('192.0.2.1', 61);
    const text =
      'warn: Too many enrolments from 192.0.2.1: more than 60 requests a minute (authd.enrollments_per_minute). ' +
      'Refusing those on top.';
    expect(logger.lines).to.deep.equal([text, `${text} (2 more since the last line)`]);
    rates = { perMinute: 0, perDay: 0 };
    for (let count = 0; count < 200; count += 1) limits.given('192.0.2.1');
    expect(admitted('192.0.2.1', 1000)).to.equal(1000);
    rates = { perMinute: 60, perDay: 0 };
    expect(admitted('192.0.2.1', 1), 'credit is not made up for').to.equal(0);
  });
});
