import { describePlace, describeWarning } from '../../lib/config/config-error.js';
import { checkingUser, splitDaemons, untrustedFiles } from '../../lib/control/check-daemons.js';
import { startOrder } from '../../lib/control/daemon-catalogue.js';
import { wantedDaemons } from '../../lib/control/wanted-daemons.js';
import { runValidation, runValidationAs } from '../../lib/validation/run-validation.js';
import type { ValidationMessage } from '../../lib/validation/validation.js';
import { noEffectItems } from './no-effect-report.js';
import type { Suite } from './suite-commands.js';

/**
 * `svc-control validate`: looks at the whole configuration of a home, whatever runs: main configuration, internal options,
 * api.yaml, the groups' agent.conf, ruleset and lists.
 * @returns the exit code: 1 when something is wrong that keeps the product from taking it over
 */
export async function validateConfiguration({ home, record, catalogue, output }: Suite): Promise<0 | 1> {
  const order = startOrder(record.role);
  const wanted = wantedDaemons(home, catalogue, order);
  const { modules } = splitDaemons(
    catalogue,
    order.filter((name) => wanted.has(name)),
  );
  const validation = { home: home.root, daemons: modules, sections: 'all', everything: true } as const;
  const user = checkingUser(home, record);
  const found = await (user === undefined ? runValidation(validation) : runValidationAs(validation, user));
  const { warnings, noEffect, looked } = found;
  const untrusted = untrustedFiles(home).map((text): ValidationMessage => ({
    level: 'error',
    text,
    daemon: undefined,
  }));
  const errors = user === undefined ? found.errors : [...untrusted, ...found.errors];
  const told = errors.filter(({ closing }) => closing !== true);
  const shown = onePlaceOnce(told.length > 0 ? told : errors);

  for (const message of shown) output.line(`ERROR: ${placed(message)}`);
  for (const message of warnings) output.line(`WARNING: ${placed(message)}`);
  for (const warning of noEffect) output.line(`WARNING: ${describeWarning(warning)}`);
  const valid = errors.length === 0;
  const verdict = valid ? 'The configuration is valid' : 'The configuration is not valid';
  const counts = [
    count(shown.length, 'error'),
    count(warnings.length, 'warning'),
    `${count(noEffect.length, 'section or setting', 'sections or settings')} without effect`,
  ].join(', ');
  if (looked.length > 0) output.line(`Looked at: ${looked.join(', ')}.`);
  output.line(`${verdict}: ${counts}.`);
  output.document({
    error: valid ? 0 : 1,
    message: `${verdict}.`,
    data: {
      valid,
      errors: shown.map(messageItem),
      warnings: warnings.map(messageItem),
      no_effect: noEffectItems(noEffect),
    },
  });
  return valid ? 0 : 1;
}

/** Some mistakes have several texts that users know: the first says what is wrong. */
function onePlaceOnce(messages: readonly ValidationMessage[]): readonly ValidationMessage[] {
  const placeOf = ({ text }: ValidationMessage) => /\([^()\s]+:\d+\b.*\)$/.exec(text)?.[0];
  return messages.filter((message, index) => {
    const place = placeOf(message);
    const before = messages[index - 1];
    return place === undefined || before === undefined || placeOf(before) !== place;
  });
}

function placed({ text, place }: ValidationMessage): string {
  return place === undefined ? text : `${text} ${describePlace(place)}`;
}

function messageItem({ text, place, daemon }: ValidationMessage): Readonly<Record<string, unknown>> {
  return { text, ...(place === undefined ? {} : place), ...(daemon === undefined ? {} : { daemon }) };
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${String(number)} ${number === 1 ? one : many}`;
}
