import { checkAgentConf } from '../config/agent-conf.js';
import { readAgentConfFile } from '../config/agent-conf-file.js';
import { checkConfiguration } from '../config/check-configuration.js';
import type { ConfigWarning } from '../config/config-error.js';
import { loadInternalOptions } from '../config/internal-options.js';
import { ownPart, warningMessage } from '../daemon/check-own-sections.js';
import { checkSettings, type DaemonSettings } from '../daemon/daemon-settings.js';
import { type CheckOutcome, failureMessages, runCheck, withoutRepeats } from '../daemon/run-check.js';
import { GroupFolders } from '../groups/group-folders.js';
import { Home } from '../home/home.js';
import { readHomeRecord } from '../home/home-record.js';
import { describeError } from '../log/describe-error.js';
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
  const say = (daemon: DaemonName | undefined, { failed, messages: said }: CheckOutcome): void => {
    for (const message of said) {
      // Some warnings are known as errors, although what they stand in is taken.
      messages.push({ ...message, daemon, level: failed ? message.level : 'warning' });
    }
  };

  const names = order.daemons.map(({ daemon }) => daemon);
  for (const each of order.daemons) {
    const outcome = await checkDaemon(each, home);
    // A daemon's own words first: they are the same for what it reads.
    say(each.daemon, outcome);
    say(each.daemon, ownPart(main, each.daemon));
  }
  if (order.sections === 'all') {
    for (const { error, owner } of main.mistakes) {
      if (owner === undefined || !names.includes(owner)) say(owner, failure(error));
    }
  }
  const looked: string[] = [];
  if (order.everything) {
    looked.push('main configuration', 'internal options');
    if (names.includes('svc-apid')) looked.push('api.yaml');
    if (names.includes('svc-analysisd')) looked.push('ruleset and lists');
    if (names.includes('svc-modulesd')) looked.push('policies');
    say(undefined, checkInternalOptions(home));
    if (role === 'server') {
      const groups = await checkGroups(home);
      for (const outcome of groups) say(undefined, outcome);
      looked.push(`agent.conf of ${String(groups.length)} ${groups.length === 1 ? 'group' : 'groups'}`);
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
    const { SETTINGS } = (await import(module)) as { readonly SETTINGS: DaemonSettings<unknown> };
    return runCheck((context) => checkSettings(SETTINGS, context), daemon, home);
  } catch (error) {
    return failure(error);
  }
}

function checkInternalOptions(home: Home): CheckOutcome {
  try {
    return { failed: false, messages: loadInternalOptions(home).warnings.map(warningMessage) };
  } catch (error) {
    return failure(error);
  }
}

/** The agent.conf of every group (agents-and-groups.md 9.1), one outcome each. */
async function checkGroups(home: Home): Promise<readonly CheckOutcome[]> {
  try {
    const groups = await new GroupFolders(home).list();
    return groups.map((group) => checkGroup(home, group));
  } catch (error) {
    return [
      { failed: true, messages: [{ level: 'error', text: `The groups cannot be read: ${describeError(error)}` }] },
    ];
  }
}

function checkGroup(home: Home, group: string): CheckOutcome {
  const name = `etc/shared/${group}/agent.conf`;
  const warnings: ConfigWarning[] = [];
  try {
    const text = readAgentConfFile(home.path(name), name, { follow: false, isOfGroup: true });
    const wrong = text === undefined ? undefined : checkAgentConf(text, name, warnings);
    return wrong === undefined ? { failed: false, messages: warnings.map(warningMessage) } : failure(wrong.error);
  } catch (error) {
    return failure(error);
  }
}

function failure(error: unknown): CheckOutcome {
  return { failed: true, messages: failureMessages(error, 'error') };
}
