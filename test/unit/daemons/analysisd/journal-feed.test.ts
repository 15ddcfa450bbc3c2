import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { JournalFeed } from '../../../../daemons/analysisd/pipeline/journal-feed.js';
import { EVENTS, RecordError } from '../../../../daemons/analysisd/pipeline/journal-record.js';
import { encodeEventBatch } from '../../../../lib/journal/event-batch.js';
import { Journal } from '../../../../lib/journal/journal.js';
import { sampleEvent } from '../../../support/bus/bus-events.js';
import { listedBatch } from '../../../support/bus/listed-batch.js';

describe('the records that the analysis gets', () => {
  let directory: string;
  let journal: Journal;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'svc-feed-'));
    journal = await Journal.open({ directory, sync: 1, segmentBytes: 65_536, maxBytes: 1 << 20, onDamage: () => {} });
  });
  afterEach(async () => {
    await journal.close();
    rmSync(directory, { recursive: true, force: true });
  });

  for (const from of ['memory', 'the disk']) {
    it(`are passed over, and told of, where one from ${from} cannot be understood`, async () => {
      const unreadable: unknown[] = [];
      const feed = new JournalFeed(journal, journal.end, (error) => unreadable.push(error));
      if (from === 'memory') expect(feed.next()).to.equal(undefined);
      const good = encodeEventBatch(listedBatch([{ ...sampleEvent('one'), stream: 's', sequence: 1 }]));
      for (const encoded of [{ ...good, payload: Buffer.from([9, 9]) }, good]) {
        const place = await journal.append(EVENTS, encoded.payload, 1);
        feed.offer({ ...place, writtenAt: 1, content: encoded });
      }
      const entry = feed.next();
      expect(entry?.content).to.have.property('count', 1);
      expect(entry?.next).to.equal(journal.end);
      expect(unreadable).to.have.length(1);
      expect(unreadable[0]).to.be.instanceOf(RecordError);
      expect(feed.next()).to.equal(undefined);
      feed.close();
    });
  }
});
