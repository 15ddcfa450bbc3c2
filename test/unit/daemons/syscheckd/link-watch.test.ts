import { expect } from 'chai';
import { LinkWatch } from '../../../../daemons/syscheckd/link-watch.js';
import { WatchedDirectories } from '../../../../lib/fim/scan/watched-directories.js';
import { directoryTraits } from '../../../../lib/fim/scan/watched-directory.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

const TRAITS = directoryTraits([{ name: 'follow_symbolic_link', value: true }], {
  recursionLevel: 1,
  diffSizeLimit: 1,
});

function leading(path: string): WatchedDirectories {
  return new WatchedDirectories([{ ...TRAITS, path, link: '/link' }]);
}

describe('links that are followed', () => {
  it('are told of when they lead elsewhere, also when that was during a look', async () => {
    let changes = 0;
    let looks = 0;
    let now = leading('/one');
    const watch: LinkWatch = new LinkWatch({
      scanned: () => leading('/one'),
      now: () => {
        looks += 1;
        const seen = now;
        if (looks === 2) {
          now = leading('/two');
          // It is too late for the look that is under way.
          watch.look();
        }
        return Promise.resolve(seen);
      },
      changed: () => (changes += 1),
      logger: new RecordingLogger(),
    });
    watch.look();
    await eventually('one look', () => looks === 1);
    expect(changes).to.equal(0);
    await eventually('another look', () => {
      if (looks < 3) watch.look();
      return changes > 0;
    });
    expect(looks).to.be.at.least(3);
    watch.stop();
  });

  it('are looked at again when a look failed', async () => {
    const logger = new RecordingLogger();
    let changes = 0;
    let fails = true;
    const watch = new LinkWatch({
      scanned: () => leading('/one'),
      now: () => (fails ? Promise.reject(new Error('no descriptors')) : Promise.resolve(leading('/two'))),
      changed: () => (changes += 1),
      logger,
    });
    watch.look();
    await eventually('a warning', () => logger.lines.some((line) => line.includes('no descriptors')));
    fails = false;
    await eventually('it is told', () => {
      watch.look();
      return changes > 0;
    });
    watch.stop();
  });
});
