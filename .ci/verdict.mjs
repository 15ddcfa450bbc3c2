// What a run of the tests comes to.

/** Each second try is named and counted, so that none hides a defect; with more of them the run has failed. */
export const MOST_SECOND_TRIES = 2;

/** @returns counts of nothing, for runs of mocha to be added to */
export const noTests = () => ({ passed: 0, failed: 0, skipped: 0, secondTries: 0 });

/**
 * @param counts of all runs of mocha, see `noTests`
 * @param checksFailed how many of the checks without the product failed
 * @returns the closing lines, whose last is for scripts, and whether the run passed
 */
export function verdict({ passed, failed, skipped, secondTries }, checksFailed) {
  const failures = failed + (secondTries > MOST_SECOND_TRIES ? 1 : 0) + (checksFailed > 0 ? 1 : 0);
  return {
    lines: [
      `second tries: ${secondTries} (more than ${MOST_SECOND_TRIES} fail the run)`,
      `${passed} passed, ${failures} failed, ${skipped} skipped`,
    ],
    hasPassed: failures === 0,
  };
}
