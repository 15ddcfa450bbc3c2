import type { Command } from 'commander';
import type { ApiCaller } from './api-caller.js';
import { addCall, addGroup, type CommandKit, confirmed, EXIT, withYes } from './command-kit.js';
import { ApiRefusalError } from './refusal.js';
import { runRequest } from './run-request.js';
import { showList } from './show-answer.js';

const COLUMNS = ['id', 'name', 'ip', 'status', 'version', 'group', 'lastKeepAlive'];
/** Agent ids are shown with three digits at least. */
const ID_DIGITS = 3;

type ListOptions = { readonly status?: string; readonly group?: string; readonly search?: string };

/** Adds `svc-api agents ...`: daily work with agents. */
export function addAgentCommands(program: Command, kit: CommandKit): void {
  const agents = addGroup(program, 'agents', 'show and change agents, by id or name');
  const filters = (command: Command): Command =>
    command
      .option('--status <status>', 'active, disconnected, pending or never_connected')
      .option('--group <group>', 'those of a group')
      .option('--search <text>', 'those with a text in some field');
  addCall<ListOptions, []>(
    agents,
    { usage: 'list', description: 'list agents', setUp: filters },
    kit,
    ({ caller, streams, options: { status, group, search }, output }) => {
      const request = caller.request('GET', '/agents', { status, group, search });
      return runRequest(
        caller,
        request,
        { output, all: true, ...(output === 'table' && { fields: COLUMNS }) },
        streams,
      );
    },
  );
  addCall<object, [string]>(
    agents,
    { usage: 'show <agent>', description: 'show all that is known of an agent' },
    kit,
    async ({ caller, streams, output }, agent) => {
      const [id = ''] = await agentIds(caller, [agent]);
      return showList(await caller.list('GET', '/agents', { agents_list: id }), { output }, streams);
    },
  );
  for (const [name, path, description] of [
    ['restart', '/agents/restart', 'restart agents'],
    ['reconnect', '/agents/reconnect', 'have agents connect anew'],
    ['upgrade', '/agents/upgrade', "upgrade agents to the manager's version"],
  ] as const) {
    addCall<object, [readonly string[]]>(
      agents,
      { usage: `${name} <agents...>`, description },
      kit,
      async ({ caller, streams, output }, names) => {
        const list = await caller.list('PUT', path, { agents_list: (await agentIds(caller, names)).join(',') });
        return showList(list, { output }, streams);
      },
    );
  }
  addMembershipCommands(agents, kit);
  addCall<object, [readonly string[]]>(
    agents,
    { usage: 'delete <agents...>', description: 'remove agents from the manager, with their keys', setUp: withYes },
    kit,
    async ({ caller, streams, options, output }, names) => {
      const ids = (await agentIds(caller, names)).join(',');
      if (!(await confirmed(`Delete agents ${ids}?`, options.yes, streams))) return EXIT.failed;
      const parameters = { agents_list: ids, status: 'all', older_than: '0s' };
      return showList(await caller.list('DELETE', '/agents', parameters), { output }, streams);
    },
  );
}

function addMembershipCommands(agents: Command, kit: CommandKit): void {
  for (const [usage, method, description] of [
    ['add-group <group> <agents...>', 'PUT', 'put agents into a group'],
    ['remove-group <group> <agents...>', 'DELETE', 'take agents out of a group'],
  ] as const) {
    addCall<object, [string, readonly string[]]>(
      agents,
      { usage, description },
      kit,
      async ({ caller, streams, output }, group, names) => {
        const parameters = { group_id: group, agents_list: (await agentIds(caller, names)).join(',') };
        return showList(await caller.list(method, '/agents/group', parameters), { output }, streams);
      },
    );
  }
}

/** Ids of agents that are given by id or by name. @throws ApiRefusalError for one that there is not */
async function agentIds(caller: ApiCaller, names: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names.flatMap((text) => text.split(',')).filter((text) => text !== '')) {
    ids.push(/^\d+$/.test(name) ? name.padStart(ID_DIGITS, '0') : await agentIdOf(caller, name));
  }
  return ids;
}

async function agentIdOf(caller: ApiCaller, name: string): Promise<string> {
  const { data } = await caller.list('GET', '/agents', { name, select: 'id', limit: 1 });
  const [item] = data.affected_items as { id?: string }[];
  if (item?.id === undefined) throw new ApiRefusalError(`there is no agent '${name}' that this user may see`);
  return item.id;
}
