import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { SyncRunner } from '../../../../daemons/syscheckd/sync/sync-runner.js';
import { BusError } from '../../../../lib/bus/bus-error.js';
import type { BusEvent } from '../../../../lib/bus/bus-event.js';
import { HOST_CLOCK, type SyncClock } from '../../../../lib/sync/sync-clock.js';
import { AgentOutlet, ManagerOutlet } from '../../../../lib/sync/sync-outlet.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { FimKit } from '../../../support/syscheckd/fim-kit.js';
import { SYNC_SETTINGS, syncRow, SyncRows } from '../../../support/syscheckd/sync-rows.js';

type Deliver = ConstructorParameters<typeof ManagerOutlet>[0]['deliver'];

describe('ways of the synchronisation', () => {
  describe('to svc-db', () => {
    /** svc-db, without the bus in between. */
    function databaseOf(kit: FimKit): Deliver {
      return (message) => kit.database.sync.take('000', message);
    }

    it('bring any paths there, byte for byte', async () => {
      const name = fc.oneof(
        fc.constantFrom("it's", 'a b', '100%', 'x"y', 'new\nline', '\\', '\xff\xfe', 'caf\xc3\xa9', '\x01', '|:', '{'),
        fc.string({
          unit: fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code)),
          minLength: 1,
          maxLength: 8,
        }),
      );
      const paths = fc.uniqueArray(name, { maxLength: 12 });
      const versions = fc.array(fc.boolean(), { minLength: 12, maxLength: 12 });
      const kit = await FimKit.open(['000']);
      try {
        const property = fc.asyncProperty(paths, versions, (names, changes) => synchronise(kit, names, changes));
        await fc.assert(property, { numRuns: 40 });
      } finally {
        await kit.close();
      }
    }).timeout(60_000);

    async function synchronise(kit: FimKit, names: readonly string[], changes: readonly boolean[]): Promise<void> {
      const rows = new SyncRows(
        names.map((name, index) => {
          const text = `${name} ${String(changes[index] === true)}`;
          return syncRow(`/srv/${name}`, createHash('sha1').update(text, 'latin1').digest('hex'));
        }),
      );
      const logger = new RecordingLogger();
      const outlet = new ManagerOutlet({ deliver: databaseOf(kit), answered: (order) => runner.take(order), logger });
      // A hundred times as fast, and no two rounds have the same number.
      const clock: SyncClock = {
        now: () => (id += 1),
        elapsed: () => HOST_CLOCK.elapsed() * 100,
        sleep: (milliseconds, signal) => HOST_CLOCK.sleep(milliseconds / 100, signal),
      };
      const settings = { ...SYNC_SETTINGS, interval: 5, max_interval: 10, response_timeout: 3 };
      const runner: SyncRunner = new SyncRunner({ source: rows, outlet, clock, logger }, settings);
      const expected = rows.rows.map(({ key, checksum }) => [key, checksum]);
      runner.start();
      await eventually('both have the same', () => {
        const stored = [...kit.rows('000')].map(([path, { checksum }]) => [path, checksum]);
        return JSON.stringify(stored) === JSON.stringify(expected);
      });
      await runner.stop();
      expect(runner.stats).to.include({ failed: 0, lost: 0, malformed: 0, ignored: 0 });
      expect(logger.lines).to.deep.equal(['info: FIM sync module started.']);
    }
    let id = 1_700_000_000;

    it('are counted and logged when svc-db is away, and not when it refuses one', async () => {
      const logger = new RecordingLogger();
      const codes = ['bad_message', 'unavailable', 'unavailable'];
      const deliver: Deliver = () => Promise.reject(new BusError(codes.shift() ?? '', 'svc-db is not available'));
      const outlet = new ManagerOutlet({ deliver, answered: () => {}, logger });
      for (let index = 0; index < 3; index += 1) await outlet.send('{}');
      await eventually('two are lost', () => outlet.lost === 2);
      expect(logger.lines).to.deep.equal([
        'warn: svc-db refused a message of the synchronisation: svc-db is not available',
        'warn: A message of the synchronisation did not get to svc-db: svc-db is not available',
      ]);
    });

    it('are so many at once', async () => {
      const answers: (() => void)[] = [];
      const deliver: Deliver = () => new Promise((resolve) => answers.push(() => resolve({})));
      const outlet = new ManagerOutlet({
        deliver,
        answered: () => {},
        logger: new RecordingLogger(),
      });
      for (let index = 0; index < 64; index += 1) await outlet.send('{}');
      const next = outlet.send('{}');
      await new Promise((resolve) => setImmediate(resolve));
      expect(answers).to.have.length(64);
      answers[0]?.();
      await next;
      expect(answers).to.have.length(65);
    });
  });

  describe('to the sink of events', () => {
    it('are events of queue 5 that wait for room', async () => {
      const events: BusEvent[] = [];
      let room = 0;
      let ready: () => void = () => {};
      const producer = {
        get room() {
          return room;
        },
        ready: () => new Promise<void>((resolve) => (ready = resolve)),
        send: (event: BusEvent) => {
          events.push(event);
          return events.length === 2 ? Promise.reject(new BusError('closed', 'it was closed')) : Promise.resolve();
        },
      };
      const logger = new RecordingLogger();
      const outlet = new AgentOutlet({ producer, location: 'fim_file', now: () => 7, logger });
      const first = outlet.send('{"path":"\xff\xc3\xa9"}');
      await new Promise((resolve) => setImmediate(resolve));
      expect(events).to.have.length(0);
      room = 1;
      ready();
      await first;
      expect(events).to.deep.equal([
        { queue: '5', location: 'fim_file', message: Buffer.from('{"path":"\xff\xc3\xa9"}', 'latin1'), receivedAt: 7 },
      ]);
      expect(outlet.lost).to.equal(0);
      await outlet.send('{}');
      await eventually('it is lost', () => outlet.lost === 1);
      expect(logger.lines).to.have.length(1);
    });
  });
});
