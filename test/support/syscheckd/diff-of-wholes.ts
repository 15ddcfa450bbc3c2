import { binaryDiff, isBinary, linesDiff } from '../../../daemons/syscheckd/diff/diff-text.js';

/** What changed from one content to another when both are at hand as wholes; empty when nothing did. */
export function diffOfWholes(
  before: Buffer,
  after: Buffer,
  names: { readonly before: string; readonly after: string },
): string {
  if (before.equals(after)) return '';
  if (isBinary(before) || isBinary(after)) return binaryDiff(names);
  return linesDiff(before, after, 0);
}
