import { expect } from 'chai';
import fc from 'fast-check';
import { GroupLists } from '../../../../daemons/db/group-lists.js';
import { groupHash } from '../../../../lib/agentlink/merged-file.js';
import { isSynchronized, type MergedPlace, mergedSumFrom } from '../../../../lib/groups/merged-file-of.js';

const GROUPS = ['a', 'b', 'c'];
const SUMS = ['1', '2'];

describe('the merged file of an agent', () => {
  /** Where it is looked for. @param at the place where it is found, by its number */
  async function looked(groups: readonly string[], at = 9): Promise<readonly MergedPlace[]> {
    const places: MergedPlace[] = [];
    const sum = await mergedSumFrom(groups, (place) => Promise.resolve(places.push(place) === at ? 'sum' : undefined));
    expect(sum).to.equal(places.length === at ? 'sum' : undefined);
    return places;
  }

  it('lies in the folder of its group, or in that of its list under either name', async () => {
    expect(await looked([])).to.deep.equal([]);
    expect(await looked(['web'])).to.deep.equal([{ directory: 'etc/shared', name: 'web/merged.mg' }]);
    const list = ['default', 'web'];
    expect(await looked(list, 1)).to.have.length(1);
    expect(await looked(list)).to.deep.equal([
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
