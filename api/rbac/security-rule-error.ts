/** A security rule that cannot be one (rest-api.md 5.6); the message says what is wrong with it. */
export class SecurityRuleError extends Error {
  override readonly name = 'SecurityRuleError';
}
