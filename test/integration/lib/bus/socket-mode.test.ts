import fs, { statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { expect } from 'chai';
import { ControlServer } from '../../../../bin/control/supervisor/control-server.js';
import { EventSink } from '../../../../lib/bus/event-sink.js';
import { FramedSocket } from '../../../../lib/bus/framed-socket.js';
import { RequestServer } from '../../../../lib/bus/request-server.js';
import { MemoryStreamPositions } from '../../../../lib/bus/stream-positions.js';
import { sampleContract, sampleHandlers } from '../../../support/bus/sample-contract.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

/** A group that is not the test's own; only root can name one. */
const OTHER_GROUP = process.geteuid?.() === 0 ? 65534 : undefined;

/** The ways to change mode or owner of whatever lies at a path at that moment. */
const BY_PATH = ['chmodSync', 'chownSync', 'lchownSync'] as const;

describe('mode and group of sockets', () => {
  const logger = new RecordingLogger();
  const original = Object.fromEntries(BY_PATH.map((name) => [name, fs[name]]));
  let home: TemporaryHome;
  let umask: number;

  beforeEach(() => {
    home = new TemporaryHome();
    umask = process.umask(0o022);
    for (const name of BY_PATH) {
      fs[name] = () => {
        throw new Error(`${name} of a path: somebody else may have put a file there by now`);
      };
    }
    syncBuiltinESMExports();
  });

  afterEach(() => {
    Object.assign(fs, original);
    syncBuiltinESMExports();
    process.umask(umask);
    home.remove();
  });

  const group = OTHER_GROUP === undefined ? {} : { group: OTHER_GROUP };
  const kinds = {
    'a request socket': (path: string) => {
      const server = new RequestServer({
        contract: sampleContract,
        handlers: sampleHandlers(),
        path,
        logger,
        ...group,
      });
      return { start: () => server.start(), stop: () => server.stop() };
    },
    'the event socket': (path: string) => {
      const onBatch = () => Promise.resolve();
      const sink = new EventSink({ path, onBatch, positions: new MemoryStreamPositions(), logger, ...group });
      return { start: () => sink.start(), stop: () => sink.stop() };
    },
    'a framed socket': (path: string) => {
      const handler = () => Promise.resolve('');
      return new FramedSocket({ path, handler, oversizeAnswer: '', logger });
    },
    'the control socket': (path: string) =>
      new ControlServer(path, { kind: 'group', gid: OTHER_GROUP }, () => Promise.resolve(undefined), logger),
  };

  for (const [kind, make] of Object.entries(kinds)) {
    it(`are those of ${kind} from its bind on`, async () => {
      const path = home.path('var', 'run', 'x.sock');
      const server = make(path);
      await server.start();
      try {
        expect((statSync(path).mode & 0o777).toString(8)).to.equal('660');
        if (OTHER_GROUP !== undefined && kind !== 'a framed socket') expect(statSync(path).gid).to.equal(OTHER_GROUP);
        expect(process.umask()).to.equal(0o022);
        expect(process.getegid?.()).to.equal(process.getgid?.());
      } finally {
        await server.stop();
      }
    });
  }
});
