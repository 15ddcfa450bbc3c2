import { ctime } from '../../time/ctime.js';
import type { EngineEvent } from '../event.js';
import { findField } from '../event-field.js';

const PLAIN: readonly (readonly [string, string])[] = [
  ['(Audit) User name', 'user_name'],
  ['(Audit) Audit name', 'audit_name'],
  ['(Audit) Effective name', 'effective_name'],
  ['(Audit) Group name', 'group_name'],
  ['(Audit) Process id', 'process_id'],
  ['(Audit) Process name', 'process_name'],
  ['(Audit) Process cwd', 'cwd'],
  ['(Audit) Parent process name', 'parent_name'],
  ['(Audit) Parent process id', 'ppid'],
  ['(Audit) Parent process cwd', 'parent_cwd'],
];

/** The attribute block of a file-integrity entry in alerts.log (rules-and-alerts.md 7.7). */
export function syscheckText(event: EngineEvent): string {
  const value = (field: string): string => findField(event, field) ?? '';
  let text = 'Attributes:\n';
  const line = (label: string, shown: string): void => {
    if (shown !== '') text += ` - ${label}: ${shown}\n`;
  };
  line('Size', value('size'));
  line('Permissions', value('perm'));
  line('Date', ctime(value('mtime')));
  line('Inode', value('inode'));
  if (value('uname') !== '') line('User', `${value('uname')} (${value('uid')})`);
  if (value('gname') !== '') line('Group', `${value('gname')} (${value('gid')})`);
  for (const [label, field] of [
    ['MD5', 'md5'],
    ['SHA1', 'sha1'],
    ['SHA256', 'sha256'],
  ] as const) {
    if (value(field) !== 'xxx') line(label, value(field));
  }
  line('File attributes', value('win_attributes'));
  for (const [label, field] of PLAIN) line(label, value(field));
  if (value('changed_content') !== '') text += `\nWhat changed:\n${value('changed_content')}\n`;
  const tags = value('tag')
    .split(',')
    .filter((tag) => tag !== '');
  if (tags.length > 0) text += `\nTags:\n${tags.map((tag) => ` - ${tag}\n`).join('')}`;
  return text;
}
