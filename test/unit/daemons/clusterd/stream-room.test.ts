import { expect } from 'chai';
import type { NatsSession } from '../../../../daemons/clusterd/nats/nats-link.js';
import { StreamRoom } from '../../../../daemons/clusterd/nats/stream-room.js';
import { clusterSubjects } from '../../../../lib/cluster/cluster-subjects.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

const subjects = clusterSubjects('office');

describe('room in the streams of a cluster', () => {
  let logger: RecordingLogger;
  let room: StreamRoom;
  /** By stream: bytes at most and taken. */
  let streams: Record<string, { readonly most: number; readonly bytes: number }>;

  beforeEach(() => {
    logger = new RecordingLogger();
    streams = {
      [subjects.streams.shared.name]: { most: 1000, bytes: 10 },
      [subjects.files.name]: { most: 1000, bytes: 10 },
    };
    const info = (name: string) => {
      const { most = 0, bytes = 0 } = streams[name] ?? {};
      return Promise.resolve({ config: { max_bytes: most }, state: { bytes } });
    };
    const session = { jsm: { streams: { info } } } as unknown as NatsSession;
    room = new StreamRoom({ link: { connected: true, session: () => session }, subjects, logger });
  });

  const warned = () => logger.lines.filter((line) => line.startsWith('warn'));

  it('is told of as it becomes less, at each step once', async () => {
    await room.look();
    expect(warned()).to.deep.equal([]);
    streams[subjects.files.name] = { most: 1000, bytes: 850 };
    await room.look();
    await room.look();
    expect(warned()).to.have.length(1);
    expect(warned()[0]).to.include('The files of the cluster take 85 %');
    expect(room.used).to.deep.equal({ records: 1, files: 85 });
  });

  it('is without a limit where an earlier version has made the stream, which is said once, with what sets one', async () => {
    streams[subjects.files.name] = { most: -1, bytes: 10 };
    await room.look();
    await room.look();
    expect(warned()).to.have.length(1);
    expect(warned()[0]).to.include(subjects.files.name);
    expect(warned()[0]).to.include("'svc-control cluster room 4 --of files --folder FOLDER'");
    streams[subjects.files.name] = { most: 1000, bytes: 10 };
    await room.look();
    streams[subjects.streams.shared.name] = { most: -1, bytes: 10 };
    await room.look();
    expect(warned()).to.have.length(2);
    expect(warned()[1]).to.include("'svc-control cluster room 2 --of records --folder FOLDER'");
  });
});
