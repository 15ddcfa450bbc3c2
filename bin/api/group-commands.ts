import type { Command } from 'commander';
import { addCall, addGroup, type CommandKit, confirmed, EXIT, withYes } from './command-kit.js';
import { runRequest } from './run-request.js';
import { showList } from './show-answer.js';

/** Adds `svc-api groups ...`: daily work with groups of agents. */
export function addGroupCommands(program: Command, kit: CommandKit): void {
  const groups = addGroup(program, 'groups', 'show and change groups of agents');
  const listed = (usage: string, description: string, path: (group: string) => string, fields: readonly string[]) => {
    addCall<object, [string?]>(groups, { usage, description }, kit, ({ caller, streams, output }, group = '') => {
      const request = caller.request('GET', path(encodeURIComponent(group)));
      return runRequest(caller, request, { output, all: true, ...(output === 'table' && { fields }) }, streams);
    });
  };
  listed('list', 'list groups, and how many agents they have', () => '/groups', ['name', 'count']);
  listed('show <group>', 'list the agents of a group', (group) => `/groups/${group}/agents`, [
    'id',
    'name',
    'ip',
    'status',
    'group',
  ]);
  listed('files <group>', 'list the files of a group', (group) => `/groups/${group}/files`, ['filename', 'hash']);
  addCall<object, [string]>(
    groups,
    { usage: 'create <group>', description: 'make a group' },
    kit,
    async ({ caller, streams }, group) => {
      const answer = await caller.send(caller.request('POST', '/groups'), JSON.stringify({ group_id: group }));
      await streams.write(answer.text.endsWith('\n') ? answer.text : `${answer.text}\n`);
      return EXIT.fine;
    },
  );
  addCall<object, [string]>(
    groups,
    { usage: 'delete <group>', description: 'remove a group; its agents stay', setUp: withYes },
    kit,
    async ({ caller, streams, options, output }, group) => {
      if (!(await confirmed(`Delete group ${group}?`, options.yes, streams))) return EXIT.failed;
      return showList(await caller.list('DELETE', '/groups', { groups_list: group }), { output }, streams);
    },
  );
}
