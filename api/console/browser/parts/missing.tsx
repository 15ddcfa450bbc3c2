import { missingOf } from '../client/alerts.js';
import type { FailedItem } from '../client/failure.js';
import { TEXTS } from '../texts.js';

/** Says whose part of an answer is missing: what is shown is not all. */
export function Missing({ failed }: { readonly failed: readonly FailedItem[] }) {
  if (failed.length === 0) return null;
  return (
    <div class="missing" role="status">
      <p>{TEXTS.common.missing}</p>
      <ul>
        {missingOf(failed).map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </div>
  );
}
