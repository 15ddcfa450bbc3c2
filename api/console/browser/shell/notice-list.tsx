import { useEffect, useState } from 'preact/hooks';
import { useConsole } from '../client/console-context.js';
import type { Notice } from '../client/notices.js';
import { TEXTS } from '../texts.js';

/** What was done, and what was not. */
export function NoticeList() {
  const { notices } = useConsole();
  const [shown, setShown] = useState<readonly Notice[]>([]);
  useEffect(() => notices.listen(setShown), [notices]);
  return (
    <div class="notices" role="region" aria-label={TEXTS.common.notices}>
      {/* The place is there before its words, or screen readers would not read them. */}
      <div aria-live="polite">
        {shown.map(({ id, kind, text }) => (
          <div class={`notice ${kind}`} key={id}>
            <p>{text}</p>
            <button type="button" class="quiet" aria-label={TEXTS.common.close} onClick={() => notices.close(id)}>
              ✕
            </button>
          </div>
        ))}
      </div>
    </div>
  );
}
