import type { Command } from 'commander';
import { AlertLines } from './alert-lines.js';
import type { ApiCaller, ApiParameters } from './api-caller.js';
import type { ApiStreams } from './api-streams.js';
import { addCall, type CommandKit, EXIT } from './command-kit.js';
import { followAlerts } from './follow-alerts.js';
import type { ApiList } from './pages.js';
import { type ApiOutput, showFailures, showLines } from './show-answer.js';
import { ApiUsageError } from './usage-error.js';

/** Alerts that are shown where nobody says how many. */
const DEFAULT_LIMIT = 20;
/** Alerts of a page, as many as the API gives. */
const PAGE = 500;

type AlertOptions = {
  readonly follow?: true;
  readonly limit?: string;
  readonly from?: string;
  readonly to?: string;
  readonly level?: string;
  readonly rule?: string;
  readonly group?: string;
  readonly agent?: string;
  readonly agentGroup?: string;
  readonly mitre?: string;
  readonly srcip?: string;
  readonly search?: string;
  readonly query?: string;
};

const EXAMPLES = `
Examples:
  svc-api alerts --level 10 --from now-1h
  svc-api alerts --follow --group authentication_failed
  svc-api alerts --search '"failed password" -root' --json | jq .data.srcip
  svc-api alerts -q 'rule.level>9;agent.name~web' --limit 1000
`;

/** Adds `svc-api alerts`: what was raised, and what is being raised. */
export function addAlertCommands(program: Command, kit: CommandKit): void {
  addCall<AlertOptions, []>(
    program,
    { usage: 'alerts', description: 'show alerts, the latest last, or follow them as they come', setUp: alertOptions },
    kit,
    async ({ caller, streams, options, output }) => {
      const filters = filtersOf(options);
      if (options.follow === true) {
        if (options.from !== undefined || options.to !== undefined || options.limit !== undefined) {
          throw new ApiUsageError('--follow begins now: no --from, --to or --limit with it');
        }
        return followAlerts({ caller, streams, filters, asJson: isJson(options, output) });
      }
      const limit = limitOf(options.limit);
      const { from, to } = options;
      return showAlerts({
        caller,
        streams,
        parameters: { ...filters, from, to },
        limit,
        asJson: isJson(options, output),
      });
    },
  );
}

function alertOptions(command: Command): Command {
  return command
    .option('-f, --follow', 'alerts from now on, until interrupted')
    .option('-n, --limit <number>', `alerts at most, the latest; ${DEFAULT_LIMIT} without it`)
    .option('--from <time>', 'from then on: 2026-05-08T12:34:19Z, 2026-05-08, now-24h')
    .option('--to <time>', 'before then')
    .option('--level <level>', 'level of the rule, at least')
    .option('--rule <ids>', 'rules, by id, with commas')
    .option('--group <groups>', 'groups of rules, with commas')
    .option('--agent <agents>', 'agents, by id or name, with commas')
    .option('--agent-group <groups>', 'agents that are in one of these groups now, with commas')
    .option('--mitre <ids>', 'techniques of ATT&CK, with commas')
    .option('--srcip <addresses>', 'source addresses, with commas')
    .option('--search <words>', 'words that all occur: word "some words" begin* -without')
    .option('-q, --query <query>', "fields and values: 'rule.level>9;agent.name~web'")
    .addHelpText('after', EXAMPLES);
}

function isJson(
  { json, output: chosen }: { readonly json?: true; readonly output?: ApiOutput },
  output: ApiOutput,
): boolean {
  return json === true || (chosen ?? output) !== 'table';
}

function filtersOf({
  level,
  rule,
  group,
  agent,
  agentGroup,
  mitre,
  srcip,
  search,
  query,
}: AlertOptions): ApiParameters {
  const agents = (agent ?? '').split(',').filter((one) => one !== '');
  const ids = agents.filter((one) => /^\d+$/.test(one)).map((id) => id.padStart(3, '0'));
  const names = agents.filter((one) => !/^\d+$/.test(one));
  if (ids.length > 0 && names.length > 0) throw new ApiUsageError('--agent takes ids or names, not both');
  return {
    min_level: level,
    rule_ids: rule,
    rule_groups: group,
    ...(ids.length > 0 ? { agents_list: ids.join(',') } : {}),
    ...(names.length > 0 ? { agent_names: names.join(',') } : {}),
    agent_groups: agentGroup,
    mitre_ids: mitre,
    srcip,
    search,
    q: query,
  };
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new ApiUsageError(`--limit: '${text}' is no number of alerts`);
  return Number(text);
}

type Shown = {
  readonly caller: ApiCaller;
  readonly streams: ApiStreams;
  readonly parameters: ApiParameters;
  readonly limit: number;
  readonly asJson: boolean;
};

/** Shows the latest alerts, the newest below the others: where somebody reads who looks at a terminal. */
async function showAlerts({ caller, streams, parameters, limit, asJson }: Shown): Promise<number> {
  const items: unknown[] = [];
  let list: ApiList;
  let cursor: string | undefined;
  let failed: ApiList | undefined;
  do {
    const size = Math.min(PAGE, limit - items.length);
    list = await caller.list('GET', '/alerts', { ...parameters, limit: size, count: cursor === undefined, cursor });
    failed ??= list;
    items.push(...list.data.affected_items);
    const { next_cursor: next } = list.data;
    cursor = typeof next === 'string' ? next : undefined;
  } while (cursor !== undefined && items.length < limit);
  items.reverse();
  if (asJson) {
    await showLines(items, streams);
  } else if (items.length === 0) {
    streams.writeError('svc-api: no alert was found\n');
  } else {
    const table = new AlertLines(streams.columns);
    await streams.write(table.heading() + items.map((item) => table.line(item)).join(''));
    const total = failed.data.total_affected_items;
    const most = failed.data['total_is_exact'] === false ? 'at least ' : '';
    if (total > items.length) streams.writeError(`svc-api: ${items.length} of ${most}${total}\n`);
  }
  return showFailures(failed, streams) === 0 ? EXIT.fine : EXIT.failed;
}
