import { shownNumber } from '../client/shown.js';

/** What is said about groups. */
export const GROUPS_TEXTS = {
  title: 'Groups',
  create: 'Create a group',
  name: 'Name',
  nameHint: 'Letters, digits and . _ - alone.',
  created: (group: string) => `The group ${group} was created.`,
  members: 'Agents',
  files: 'Files',
  sum: 'Sum of its files',
  empty: 'No group is like that.',
  alerts: 'Alerts of its agents',
  remove: 'Remove',
  removeTitle: (what: string) => `Remove ${what}?`,
  removeText: (members: number) =>
    `Its files are deleted. ${members === 1 ? '1 agent leaves it' : `${shownNumber(members)} agents leave it`}; who has no other group goes to default.`,
  removeGroup: (group: string) => `Remove ${group}`,
  removed: (group: string) => `Removed: ${group}.`,
  select: (group: string) => `Select ${group}`,
  groups: (count: number) => (count === 1 ? '1 group' : `${count} groups`),
  tabs: 'About this group',
  configuration: 'agent.conf',
  add: 'Add agents',
  addHint: 'Part of a name, an id or an address.',
  added: (count: number) => `Added: ${shownNumber(count)}.`,
  take: 'Take out',
  takeTitle: (what: string, group: string) => `Take ${what} out of ${group}?`,
  takeText:
    'The files of the group are taken from them with their next keepalive. Who has no other group goes to default.',
  taken: (count: number) => `Taken out: ${shownNumber(count)}.`,
  noMembers: 'No agents are in this group.',
  have: (synced: number, total: number) =>
    `${shownNumber(synced)} of ${shownNumber(total)} agents have the current files.`,
  away: (count: number) =>
    count === 1
      ? '1 is not connected, and gets them when it comes back.'
      : `${shownNumber(count)} are not connected, and get them when they come back.`,
  packing: 'The new files are being packed.',
  file: 'File',
  hash: 'MD5',
  openFile: (name: string) => `Show ${name}`,
  binary: 'This file is no text.',
  noFiles: 'There are no files.',
  editor: 'agent.conf of the group',
  mayNot: 'Your user may not change it.',
  checking: 'Checking…',
  valid: 'No mistakes.',
  invalid: 'Not valid.',
  warnings: 'What agents ignore',
  line: (line: number) => `Line ${line}:`,
  review: 'Review and save',
  revert: 'Discard changes',
  unchanged: 'Nothing was changed.',
  reviewTitle: 'What goes out',
  reviewText: (members: number) =>
    members === 1
      ? '1 agent gets this with its next keepalive.'
      : `${shownNumber(members)} agents get this with their next keepalive.`,
  changedMeanwhile: 'Somebody else has changed it meanwhile: what follows is the difference to what is there now.',
  laidOut: 'It is stored laid out with two blanks a level.',
  save: 'Save and send',
  saved: 'It is stored.',
} as const;
