import type { Recorder } from '../record/recorder.js';

/** What looking at changes needs of a Recorder. */
export type ChangeRecorder = Pick<
  Recorder,
  'ticket' | 'known' | 'row' | 'rowsBelow' | 'record' | 'remove' | 'beginScan'
>;
