import type { MatchContext } from '../../patterns/matcher.js';
import type { Diagnostics, EngineEvent } from '../event.js';
import type { Decoder } from './decoder-set.js';
import { setStaticField } from './static-field.js';

/**
 * Bytes of captures that an event is given: four times the longest log. Groups and siblings take the same text again, so
 * that 64 KB of log could be megabytes of fields, and of its alert.
 */
const MAX_CAPTURED_BYTES = 256 * 1024;

/** What giving captures needs beside the event. */
export type CaptureTools = { readonly context: MatchContext; readonly diagnostics: Diagnostics };

/**
 * Gives the captures of the last match to members and fields as the decoder orders them (decoding.md 4.5).
 * Captures beyond `MAX_CAPTURED_BYTES` use up the steps of decoding.
 *
 * @param orderSize most dynamic fields of an event
 * @returns false when the event can take no more
 */
export function giveCaptures(event: EngineEvent, decoder: Decoder, orderSize: number, tools: CaptureTools): boolean {
  const { targets, place } = decoder;
  const { context } = tools;
  const { captures, captureCount } = context;
  if (event.fieldNames.length >= orderSize) {
    tools.diagnostics.error('Regex has too many groups.', place);
    return false;
  }
  const count = Math.min(captureCount, targets.length);
  for (let i = 0; i < count; i += 1) {
    const target = targets[i];
    const value = captures[i];
    if (target === undefined || value === undefined) break;
    event.fieldBytes += value.length;
    if (event.fieldBytes > MAX_CAPTURED_BYTES) return context.giveUp();
    if (target.staticField !== undefined) {
      setStaticField(event, target.staticField, value);
    } else if (event.fieldNames.length < orderSize) {
      event.fieldNames.push(target.name);
      event.fieldValues.push(value);
    }
  }
  return true;
}
