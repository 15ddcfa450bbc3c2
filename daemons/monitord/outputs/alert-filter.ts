import { byteString } from '../../../lib/config/pattern-text.js';
import type { AlertView } from '../../../lib/output/alert-view.js';
import { compilePattern } from '../../../lib/patterns/compile-pattern.js';
import { MatchContext } from '../../../lib/patterns/matcher.js';

/** What of the alerts an output wants; all that is given must hold (daemons-and-config.md 8). */
export type AlertFilterSettings = {
  /** This level and those above. */
  readonly level: number;
  /** One of them; empty: any. */
  readonly ruleIds: readonly number[];
  /** Pattern of the simple match language over the groups as alerts.log shows them, `sshd,auth,`. */
  readonly group?: string | undefined;
  /** Names of groups of which the alert has one; empty: any. */
  readonly groups?: readonly string[];
  /** Pattern of the simple match language over the location. */
  readonly location?: string | undefined;
  /** Whether `location` looks at the agent, too, as mail does. */
  readonly wholeLocation?: boolean;
};

/** Tells the alerts that an output wants. */
export class AlertFilter {
  readonly #settings: AlertFilterSettings;
  readonly #ids: ReadonlySet<string>;
  readonly #group: TextTest;
  readonly #location: TextTest;

  /** @throws PatternError; the configuration was checked before */
  constructor(settings: AlertFilterSettings) {
    this.#settings = settings;
    this.#ids = new Set(settings.ruleIds.map(String));
    this.#group = textTest(settings.group);
    this.#location = textTest(settings.location);
  }

  takes(alert: AlertView): boolean {
    const { level, groups = [], wholeLocation = false } = this.#settings;
    return (
      alert.level >= level &&
      (this.#ids.size === 0 || this.#ids.has(alert.ruleId)) &&
      (groups.length === 0 || alert.groups.some((name) => groups.includes(name))) &&
      this.#group(() => groupList(alert)) &&
      this.#location(() => (wholeLocation ? alert.origin : alert.location))
    );
  }
}

/** Groups as alerts.log shows them: each with a comma behind it. */
export function groupList(alert: AlertView): string {
  return alert.groups.map((name) => `${name},`).join('');
}

/** Whether a text is as wanted; it is made only when somebody asks. */
type TextTest = (text: () => string) => boolean;

function textTest(pattern: string | undefined): TextTest {
  if (pattern === undefined) return () => true;
  const matcher = compilePattern('osmatch', byteString(pattern));
  const context = new MatchContext();
  return (text) => matcher.test(byteString(text()), context);
}
