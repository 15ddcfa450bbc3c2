import type { EngineEvent } from '../event.js';

type CompiledFunction = (event: EngineEvent) => boolean;

const CRAWLERS = ['66.249.', '72.14.', '209.85.', '65.55.', '207.46.', '74.6.', '72.30.', '67.195.'];

/** Functions that `<compiled_rule>` may name, exactly as written (rules-and-alerts.md 6.7). */
export const COMPILED_FUNCTIONS: ReadonlyMap<string, CompiledFunction> = new Map<string, CompiledFunction>([
  [
    'comp_srcuser_dstuser',
    ({ srcuser, dstuser }) => srcuser === undefined || dstuser === undefined || srcuser === dstuser,
  ],
  ['check_id_size', ({ id }) => id !== undefined && id.length >= 10],
  ['comp_mswin_targetuser_calleruser_diff', ({ log }) => targetAndCallerDiffer(log)],
  ['is_simple_http_request', ({ url }) => url !== undefined && (url === '/' || !url.includes('?'))],
  ['is_valid_crawler', ({ log }) => CRAWLERS.some((prefix) => log.startsWith(prefix))],
]);

function targetAndCallerDiffer(log: string): boolean {
  const target = accountAfter(log, 'Target Account Name');
  const caller = accountAfter(log, 'Caller User Name');
  return target !== undefined && caller !== undefined && target !== caller;
}

/** Text between the colon after the label and a tab or double blank. */
function accountAfter(log: string, label: string): string | undefined {
  const at = log.indexOf(label);
  const colon = at < 0 ? -1 : log.indexOf(':', at);
  if (colon < 0) return undefined;
  const rest = log.slice(colon + 1).replace(/^[ \t]+/, '');
  const end = rest.search(/\t| {2}/);
  return end < 0 ? rest : rest.slice(0, end);
}
