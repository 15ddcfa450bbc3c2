import * as z from 'zod';
import { isObject } from '../../json/is-object.js';

/**
 * Items of a page, objects with any members. They are not looked into: what the decoder makes of a message has plain members
 * alone, and a schema of members would copy each item once more.
 */
export const itemList = z.array(z.custom<Record<string, unknown>>(isItem, 'is no object'));

function isItem(value: unknown): boolean {
  return isObject(value) && !ArrayBuffer.isView(value);
}
