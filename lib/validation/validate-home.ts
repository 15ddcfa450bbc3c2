import { checkAgentConf } from '../config/agent-conf.js';
import { readAgentConfFile } from '../config/agent-conf-file.js';
import { checkConfiguration } from '../config/check-configuration.js';
import { ConfigError, type ConfigWarning, describeWarning } from '../config/config-error.js';
import { loadInternalOptions } from '../config/internal-options.js';
import { ownPart } from '../daemon/check-own-sections.js';
import type { DaemonCheck } from '../daemon/daemon-check.js';
import { describeError } from '../daemon/describe-error.js';
import { Home } from '../daemon/home.js';
import { readHomeRecord } from '../daemon/home-record.js';
import {
  type CheckMessage,
  type CheckOutcome,
  failureMessages,
  runCheck,
  withoutRepeats,
} from '../daemon/run-check.js';
import { GroupFolders } from '../groups/group-folders.js';
import type { DaemonName } from '../product/daemon-names.js';
import type { CheckedDaemon, Validation, ValidationMessage, ValidationOrder } from './validation.js';

/**
 * Makes the checks of many daemons in this process, and those of what no daemon reads. It takes as long as loading the
 * ruleset takes, so it belongs in a thread (run-validation.ts).
 */
export async function validateHome(order: ValidationOrder): Promise<Validation> {
  const home = new Home(order.home);
  const { role } = readHomeRecord(home);
  const main = checkConfiguration(home, role);
  const messages: ValidationMessage[] = [];
  const say = (daemon: DaemonName | undefined, said: readonly CheckMessage[]): void => {
    for (const message of said) messages.push({ ...message, daemon });
  };

  const names = order.daemons.map(({ daemon }) => daemon);
  for (const each of order.daemons) {
    const outcome = await checkDaemon(each, home);
    // A daemon's own words first: they are the same for what it reads.
    say(each.daemon, outcome.messages);
    say(each.daemon, onlyErrors(ownPart(main, each.daemon).messages));
  }
  if (order.sections === 'all') {
    for (const { error, owner } of main.mistakes) {
      if (owner === undefined || !names.includes(owner)) say(owner, failureMessages(error, 'error'));
    }
  }
  const looked: string[] = [];
  if (order.everything) {
    looked.push('etc/manager.conf', 'internal options');
    say(undefined, checkInternalOptions(home));
    if (role === 'server') {
      const groups = await checkGroups(home);
      say(undefined, groups.messages);
      looked.push(`agent.conf of ${String(groups.count)} ${groups.count === 1 ? 'group' : 'groups'}`);
    }
  }
  const each = withoutRepeats(messages);
  return {
    errors: each.filter(({ level }) => level !== 'warning'),
    warnings: each.filter(({ level }) => level === 'warning'),
    noEffect: main.noEffect.filter(({ owner }) => order.sections === 'all' || names.includes(owner)),
    looked,
  };
}

async function checkDaemon({ daemon, module }: CheckedDaemon, home: Home): Promise<CheckOutcome> {
  try {
    const { check } = (await import(module)) as { readonly check: DaemonCheck };
    return runCheck(check, daemon, home);
  } catch (error) {
    return { failed: true, messages: failureMessages(error, 'error') };
  }
}

function onlyErrors(messages: readonly CheckMessage[]): readonly CheckMessage[] {
  return messages.filter(({ level }) => level !== 'warning');
}

function checkInternalOptions(home: Home): CheckMessage[] {
  try {
    return loadInternalOptions(home).warnings.map(warningMessage);
  } catch (error) {
    return failureMessages(error, 'error');
  }
}

/** The agent.conf of every group (agents-and-groups.md 9.1). */
async function checkGroups(
  home: Home,
): Promise<{ readonly count: number; readonly messages: readonly CheckMessage[] }> {
  let groups: readonly string[];
  try {
    groups = await new GroupFolders(home).list();
  } catch (error) {
    return { count: 0, messages: [{ level: 'error', text: `The groups cannot be read: ${describeError(error)}` }] };
  }
  return { count: groups.length, messages: groups.flatMap((group) => checkGroup(home, group)) };
}

function checkGroup(home: Home, group: string): CheckMessage[] {
  const name = `etc/shared/${group}/agent.conf`;
  const warnings: ConfigWarning[] = [];
  try {
    const text = readAgentConfFile(home.path(name), name, { follow: false, isOfGroup: true });
    const failure = text === undefined ? undefined : checkAgentConf(text, name, warnings);
    if (failure === undefined) return warnings.map(warningMessage);
    const { file, line } = failure.error;
    return [{ level: 'error', text: failure.error.message, place: { file, line } }];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { file, line } = error;
    return [{ level: 'error', text: error.message, place: { file, line } }];
  }
}

function warningMessage(warning: ConfigWarning): CheckMessage {
  return { level: warning.level ?? 'warning', text: describeWarning(warning) };
}
