import type { Upload } from '../contract/operations.js';
import { ApiError } from './api-error.js';

/**
 * The body of an upload as text.
 * @throws ApiError 1912 when there is none, 1911 when it is not UTF-8
 */
export function uploadedText(upload: Upload): string {
  if (upload === undefined || upload.length === 0) throw new ApiError(1912);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(upload);
  } catch {
    throw new ApiError(1911);
  }
}
