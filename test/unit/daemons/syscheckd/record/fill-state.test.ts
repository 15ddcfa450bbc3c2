import { expect } from 'chai';
import { FillState } from '../../../../../daemons/syscheckd/record/fill-state.js';
import type { FileRow } from '../../../../../daemons/syscheckd/store/file-row.js';
import { RecorderKit } from '../../../../support/syscheckd/recorder-kit.js';

describe('fill state of the table', () => {
  let kit: RecorderKit;
  beforeEach(async () => (kit = await RecorderKit.open()));
  afterEach(() => kit.remove());

  async function fillTo(rows: number): Promise<void> {
    await kit.store.clear();
    const row = (path: string, number: number): FileRow => ({
      ...{ path, number, attributes: { checksum: '' }, checks: 0, inode: '1', dev: '1' },
      ...{ stamp: undefined, lastEvent: 1, mode: 'scheduled' as const },
    });
    const changes = Array.from({ length: rows }, (_, index) => row(`/file${index}`, index));
    await kit.store.commit(
      changes.map((after) => ({ path: after.path, before: undefined, after })),
      [],
    );
  }

  const notices = async (): Promise<string[]> =>
    (await kit.waiting()).map(({ queue, location, message }) => `${queue}:${location}:${message.toString()}`);

  it('is told when it changes, once, over restarts too', async () => {
    const levels: (string | undefined)[] = [];
    for (const rows of [79, 80, 85, 90, 99, 100, 99, 79, 10]) {
      await fillTo(rows);
      await kit.reopen();
      const before = (await kit.waiting()).length;
      await new FillState(kit.store, kit.logger).check(100);
      levels.push((await notices()).slice(before).map((text) => /alert_type":"(\w+)"/.exec(text)?.[1])[0]);
    }
    expect(levels).to.deep.equal([
      undefined,
      '80_percentage',
      undefined,
      '90_percentage',
      undefined,
      'full',
      '90_percentage',
      'normal',
      undefined,
    ]);
    expect((await notices())[0]).to.equal(
      '1:syscheck:wazuh: FIM DB: {"fim_db_table":"file_entry","file_limit":100,"file_count":80,"alert_type":"80_percentage"}',
    );
    expect(kit.logger.lines.filter((line) => /\((6038|6040|6926|6036)\)/.test(line))).to.have.length(5);
  });

  it('is none without a limit', async () => {
    await fillTo(10);
    await new FillState(kit.store, kit.logger).check(0);
    expect(await notices()).to.deep.equal([]);
  });
});
