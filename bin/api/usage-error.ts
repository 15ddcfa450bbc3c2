/** What was typed cannot be meant so: nothing was sent. The message is for people and may have several lines. */
export class ApiUsageError extends Error {
  override readonly name = 'ApiUsageError';
}
