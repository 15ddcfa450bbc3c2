import type { z } from 'zod';

/** First problem a schema found, with the field: `params.limit: Too small: expected number to be >=1`. */
export function describeIssue(root: string, error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return `${root}: invalid`;
  let field = root;
  for (const key of issue.path) field += typeof key === 'number' ? `[${key}]` : `.${String(key)}`;
  return `${field}: ${issue.message}`;
}
