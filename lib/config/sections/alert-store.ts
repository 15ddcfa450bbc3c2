import { type Field, group, type Values } from '../field.js';
import { integer, size, yesNo } from '../value-fields.js';

const MEBIBYTE = 1024 ** 2;
const DEFAULT_DAYS = 90;
const MOST_DAYS = 36_500;
const DEFAULT_MAX_BYTES = 10_240 * MEBIBYTE;
/** Below it the store would have hardly more than what it keeps in any case. */
const LEAST_MAX_BYTES = 64 * MEBIBYTE;

/** `<alert_store>`: alerts that can be searched. A section of this product; scalars, last one wins. */
const ALERT_STORE_FIELDS = {
  enabled: yesNo(true),
  /** Days that alerts stay in the store; 0 is for ever. */
  keep_days: integer(DEFAULT_DAYS, { max: MOST_DAYS }),
  /** Bytes of the store; the oldest alerts go beyond, 0 is no limit. */
  max_size: size(DEFAULT_MAX_BYTES, (bytes) => bytes === 0 || bytes >= LEAST_MAX_BYTES),
};

/** `<alert_store>` as read. */
export type AlertStoreConfig = Values<typeof ALERT_STORE_FIELDS>;
/** Reads `<alert_store>` blocks. */
export const ALERT_STORE: Field<AlertStoreConfig> = group(ALERT_STORE_FIELDS);
