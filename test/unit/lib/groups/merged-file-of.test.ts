import { expect } from 'chai';
import fc from 'fast-check';
import { GroupLists } from '../../../../daemons/db/group-lists.js';
import { groupHash } from '../../../../lib/agentlink/merged-file.js';
import { isSynchronized, mergedPlaces } from '../../../../lib/groups/merged-file-of.js';

const GROUPS = ['a', 'b', 'c'];
const SUMS = ['1', '2'];

describe('the merged file of an agent', () => {
  it('lies in the folder of its group, or in that of its list under either name', () => {
    expect(mergedPlaces([])).to.deep.equal([]);
    expect(mergedPlaces(['web'])).to.deep.equal([{ directory: 'etc/shared', name: 'web/merged.mg' }]);
    const list = ['default', 'web'];
    expect(mergedPlaces(list)).to.deep.equal([
      { directory: 'var/multigroups', name: `${groupHash(list, 16)}/merged.mg` },
      { directory: 'var/multigroups', name: '5288d400/merged.mg' },
    ]);
  });

  it('is compared as svc-db compares it, in every case', async () => {
    const groups = fc.uniqueArray(fc.constantFrom(...GROUPS), { maxLength: 3 });
    const md5 = fc.option(fc.constantFrom(...SUMS), { nil: undefined });
    const known = fc.array(fc.tuple(groups, md5), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(groups, md5, known, async (own, mergedSum, files) => {
        const lists = new GroupLists();
        for (const [names, sum] of files) if (names.length > 0) lists.setSum(names.join(','), sum);
        const sumOf = (names: readonly string[]) => Promise.resolve(lists.sums.get(names.join(',')));
        expect(await isSynchronized({ status: 'active', groups: own, mergedSum }, sumOf)).to.equal(
          lists.of(own).isInStep(mergedSum),
        );
        expect(await isSynchronized({ status: 'never_connected', groups: own, mergedSum }, sumOf)).to.equal(false);
      }),
    );
  });
});
