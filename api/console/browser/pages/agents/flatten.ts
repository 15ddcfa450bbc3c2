/** Every number and text of an object, by the words on its way: `{sent_breakdown: {ack: 1}}` is `sent ack`. */
export function flatten(value: unknown, way = ''): [string, string | number][] {
  if (typeof value === 'number' || typeof value === 'string') return [[way, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => flatten(each, [way, wordsOf(name)].join(' ').trim()));
}

function wordsOf(name: string): string {
  return name.replace(/_breakdown$/, '').replaceAll('_', ' ');
}
