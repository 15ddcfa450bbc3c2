import type { RootcheckSettings } from './rootcheck-settings.js';

/** How much a note matters: to operators (`warn`, `error`), or only to who looks closely. */
export type NoteLevel = 'debug' | 'warn' | 'error';

/** What a check is given by the scan it is part of. */
export interface CheckContext {
  readonly settings: RootcheckSettings;
  /** Tells what was found; resolves when there is room for more. @param text byte string */
  report(text: string): Promise<void>;
  /** Says what the operator should know about the scan itself. */
  note(level: NoteLevel, text: string): void;
  /** To be called for each thing looked at: it shows that the scan goes on. */
  step(): void;
  /** Lets others work. @param milliseconds `rootcheck.sleep` by default */
  pause(milliseconds?: number): Promise<void>;
}
