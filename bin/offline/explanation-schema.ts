import * as z from 'zod';
import type { WhyNot } from '../../lib/engine/explain/explain-why.js';
import type { Explanation } from '../../lib/engine/explain/explanation.js';

/** What svc-analysisd answers may come from another version than this program's: it is checked before it is shown. */
const search = z.object({
  counted: z.number(),
  needed: z.number(),
  timeframe: z.number(),
  of: z.string(),
  same: z.array(z.string()),
  different: z.array(z.string()),
  skipped: z.number(),
  stop: z.enum(['no more events', 'older events', 'used up', 'missing value', 'no list', 'limit']).exactOptional(),
  missing: z.array(z.string()).exactOptional(),
});

const condition = z.object({
  condition: z.string(),
  wants: z.string(),
  subject: z.string().exactOptional(),
  note: z.string().exactOptional(),
  search: search.exactOptional(),
});

const rule = z.object({
  id: z.number(),
  level: z.number(),
  depth: z.number(),
  result: z.enum(['failed', 'final', 'through', 'passed']),
  failed: condition.exactOptional(),
  held: z.array(condition).exactOptional(),
});

const step = z.object({
  decoder: z.string(),
  place: z.string(),
  what: z.enum(['program_name', 'prematch', 'selected', 'taken', 'regex', 'plugin']),
  matched: z.boolean(),
  language: z.string().exactOptional(),
  pattern: z.string().exactOptional(),
  from: z.number().exactOptional(),
  next: z.number().exactOptional(),
  subject: z.string().exactOptional(),
});

/** `explain` of a logtest reply. */
export const explanationSchema = z.object({
  predecoding: z
    .object({
      format: z.string(),
      timestamp: z.string().exactOptional(),
      hostname: z.string().exactOptional(),
      program_name: z.string().exactOptional(),
      log: z.string(),
    })
    .exactOptional(),
  decoding: z.object({
    roots: z.enum(['with program_name', 'without program_name']),
    steps: z.array(step),
    decoder: z.string().exactOptional(),
    parent: z.string().exactOptional(),
    category: z.string(),
    fields: z.array(z.object({ name: z.string(), value: z.string() })),
  }),
  rules: z.array(rule),
  result: z.object({
    rule: z.number().exactOptional(),
    level: z.number().exactOptional(),
    ancestors: z.array(z.number()),
    alert: z.boolean(),
    text: z.string(),
  }),
}) satisfies z.ZodType<Explanation>;

/** `why` of a logtest reply. */
export const whySchema = z.object({
  rule: z.number(),
  fired: z.boolean(),
  answer: z.string(),
  details: z.array(z.string()),
}) satisfies z.ZodType<WhyNot>;
