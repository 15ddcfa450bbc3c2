import type { BaselineStore } from './baselines.js';

const NAME = 'prefilter';

/**
 * Whether the hashes that are recorded are those of another `prefilter_cmd`, or of the files themselves where there is one
 * now: they cannot be compared with what is read from now on.
 * @param mark of the command; none: the files themselves
 * @throws StoreError `damaged`
 */
export function isOtherPrefilter({ texts }: Pick<BaselineStore, 'texts'>, mark: string | undefined): boolean {
  return (texts.get(NAME) ?? '') !== (mark ?? '');
}

/** What is recorded from now on was hashed so. Resolves when that is on disk. @throws StoreError */
export async function rememberPrefilter(store: BaselineStore, mark: string | undefined): Promise<void> {
  await store.commit([], [], [store.texts.put(NAME, mark ?? '')]);
}
