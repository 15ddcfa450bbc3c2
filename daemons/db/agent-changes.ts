import type { z } from 'zod';
import type { agentMethods, AgentStatus } from '../../lib/bus/contracts/db-agents.js';
import type { AgentRecord, AgentRow } from './agent-record.js';
import type { Edit } from './edit.js';
import { DEFAULT_GROUP } from './membership.js';
import type { Registry } from './registry.js';

export type Changes = z.output<(typeof agentMethods)['agents.update']['params']>['changes'];
type StatusChange = z.output<(typeof agentMethods)['agents.status']['params']>['agents'][number];

/** Status codes (agents-and-groups.md 4.6). */
export const NO_KEEPALIVE_CODE = 4;
export const RESET_CODE = 5;

/** The record with the changes in it. */
function changedRecord(record: AgentRecord, changes: Changes): AgentRecord {
  const { labels: _labels, lastKeepAlive: _time, os, ...given } = changes;
  const { uname, ...system } = os ?? {};
  const systemChange = os === undefined ? {} : { os: os === null ? null : system, uname: uname ?? null };
  const members = Object.entries({ ...given, ...systemChange }).filter(([, value]) => value !== undefined);
  if (members.length === 0) return record;
  return { ...record, ...Object.fromEntries(members.map(([name, value]) => [name, value ?? undefined])) };
}

/** Applies what a keepalive or svc-authd tells. */
export function applyChanges(registry: Registry, edit: Edit, row: AgentRow, changes: Changes): void {
  const next = edit.setAgent(row.id, changedRecord(row.record, changes));
  if (changes.lastKeepAlive !== undefined) edit.setKeepAlive(next, changes.lastKeepAlive);
  const { labels } = changes;
  if (labels !== undefined && JSON.stringify(labels) !== JSON.stringify(registry.labels(row.id))) {
    edit.setLabels(row.id, labels);
  }
}

/**
 * What a keepalive makes of an agent: active again, in `default` when it has no group.
 * @returns whether it was given `default`
 */
export function applyKeepAlive(registry: Registry, edit: Edit, row: AgentRow, changes: Changes): boolean {
  applyChanges(registry, edit, row, { status: 'active', statusCode: 0, disconnectionTime: 0, ...changes });
  if (row.record.groups.length > 0) return false;
  edit.setAgent(row.id, { ...row.record, groups: [DEFAULT_GROUP] });
  return true;
}

/**
 * A startup clears code and time of a disconnection, a shutdown sets its time, unless the caller says otherwise.
 * @param now epoch seconds
 */
export function applyStatus(edit: Edit, row: AgentRow, change: StatusChange, now: number): void {
  const { id: _id, at, status, ...given } = change;
  const implied = status === undefined ? {} : impliedByStatus(status, now);
  const next = edit.setAgent(row.id, changedRecord(row.record, { ...implied, ...given, status }));
  if (at !== undefined) edit.setKeepAlive(next, at);
}

function impliedByStatus(status: AgentStatus, now: number): Changes {
  return status === 'disconnected' ? { disconnectionTime: now } : { statusCode: 0, disconnectionTime: 0 };
}

/** @param at epoch seconds */
export function disconnected(record: AgentRecord, statusCode: number, at: number): AgentRecord {
  return { ...record, status: 'disconnected', statusCode, disconnectionTime: at };
}
