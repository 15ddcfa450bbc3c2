import { isObject } from '../json/is-object.js';
import type { AlertView } from '../output/alert-view.js';
import { textTime } from '../time/text-time.js';
import type { ReportAlert } from './report-alert.js';

/** Arrays of `rule` whose values stand among the groups of alerts.log, with the name in front (rules-and-alerts.md 7.2). */
const COMPLIANCE = ['pci_dss', 'cis', 'gdpr', 'gpg13', 'hipaa', 'nist_800_53', 'tsc'] as const;

/** An alert of alerts.json as reports see it. Each part is made when it is asked for: most reports leave most alerts out. */
export class JsonReportAlert implements ReportAlert {
  readonly #view: AlertView;
  #location: string | undefined;
  #groups: string | undefined;

  constructor(view: AlertView) {
    this.#view = view;
  }

  get date(): string {
    const { time, timestamp } = this.#view;
    return Number.isNaN(time) ? timestamp : textTime(time);
  }

  get location(): string {
    return (this.#location ??= this.#view.origin);
  }

  get groups(): string {
    return (this.#groups ??= this.#groupList());
  }

  get ruleId(): string {
    return this.#view.ruleId;
  }

  get level(): number {
    return this.#view.level;
  }

  get description(): string {
    return this.#view.description;
  }

  get srcip(): string {
    return this.#view.data('srcip');
  }

  get user(): string {
    return this.#view.data('dstuser');
  }

  get filename(): string {
    return this.#view.syscheck('path');
  }

  get log(): string {
    return this.#view.fullLog;
  }

  #groupList(): string {
    let text = '';
    for (const name of this.#view.groups) text += `${name},`;
    const rule = this.#view.json['rule'];
    if (!isObject(rule)) return text;
    for (const name of COMPLIANCE) {
      const values = rule[name];
      if (!Array.isArray(values)) continue;
      for (const value of values) if (typeof value === 'string') text += `${name}_${value},`;
    }
    return text;
  }
}
