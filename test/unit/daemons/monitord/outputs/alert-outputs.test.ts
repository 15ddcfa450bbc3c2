import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AlertOutputs, type OutputDefinition } from '../../../../../daemons/monitord/outputs/alert-outputs.js';
import { OutputStore } from '../../../../../daemons/monitord/outputs/output-store.js';
import { AlertFeed, type StreamedAlert } from '../../../../../lib/output/alert-feed.js';
import { ALERT_FILES } from '../../../../../lib/output/dated-files.js';
import { RecordStream } from '../../../../../lib/output/record-stream.js';
import { eventually } from '../../../../support/eventually.js';
import { AlertFiles, sampleAlert } from '../../../../support/monitord/alert-files.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

describe('the outputs that a configuration asks for', () => {
  let directory: string;
  let files: AlertFiles;
  let stream: RecordStream;
  let store: OutputStore;
  let outputs: AlertOutputs;
  let logger: RecordingLogger;
  /** Ids of alerts that came, by output. */
  let came: string[];
  /** Opens the store, or fails to. */
  let open: () => void;
  let fail: (error: Error) => void;

  function output(name: string): OutputDefinition {
    return {
      key: name,
      name,
      settings: {},
      receiver: () => ({
        deadlineMs: 5000,
        deliver: (batch: readonly StreamedAlert[]) => {
          came.push(...batch.map(({ view }) => `${name} ${String(view?.json['id'])}`));
          return Promise.resolve();
        },
      }),
    };
  }

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'alert-outputs-'));
    files = new AlertFiles(directory);
    stream = new RecordStream({ directory, ...ALERT_FILES });
    store = await OutputStore.open(join(directory, 'outputs'));
    logger = new RecordingLogger();
    came = [];
    const opened = new Promise<void>((resolve, reject) => {
      open = resolve;
      fail = reject;
    });
    const feed = new AlertFeed({
      stream,
      liveFile: join(directory, 'alerts.json'),
      log: logger.limited(),
      lookMs: 2,
    });
    outputs = new AlertOutputs({
      feeds: { alerts: feed, archives: feed },
      store: {
        async get() {
          await opened;
          return store;
        },
      },
      logger,
    });
  });
  afterEach(async () => {
    await outputs.stop();
    await store.close();
    stream.close();
    files.close();
    rmSync(directory, { recursive: true });
  });

  it('have their place when they are followed, however long that takes', async () => {
    files.write(sampleAlert({ id: 'before' }));
    let followed = false;
    const following = outputs.follow([output('a')]).then(() => {
      followed = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(followed, 'before the store is open').to.equal(false);
    open();
    await following;
    expect(store.position('a')).to.deep.include({ file: '2025/Jun/ossec-alerts-05.json' });
    files.write(sampleAlert({ id: 'behind' }));
    await eventually('it came', () => came.length > 0);
    expect(came).to.deep.equal(['a behind']);
  });

  it('keep nobody waiting when they cannot begin', async () => {
    const following = outputs.follow([output('a')]);
    fail(new Error('no space'));
    await following;
    expect(logger.lines).to.deep.equal(['error: Alerts are not handed on: no space']);
    expect(outputs.stats()).to.deep.equal({});
  });

  it('are those of the configuration that came last', async () => {
    const following = [outputs.follow([output('a')]), outputs.follow([output('a'), output('b')])];
    await new Promise((resolve) => setImmediate(resolve));
    following.push(outputs.follow([output('c')]));
    open();
    await Promise.all(following);
    expect(Object.keys(outputs.stats())).to.deep.equal(['c']);
    expect(store.keys()).to.deep.equal(['c']);
  });
});
