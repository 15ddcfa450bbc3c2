import { isObject } from '../json/is-object.js';

/** Texts of `data` that all kinds of events share (rules-and-alerts.md 7.1). */
type DataText = 'srcip' | 'srcport' | 'srcuser' | 'dstip' | 'dstport' | 'dstuser' | 'url';

/**
 * An alert as it was written to alerts.json (rules-and-alerts.md 7.1), read back. Members that are missing or of another
 * type are empty: the files are also written by other versions.
 */
export class AlertView {
  /** The whole object. */
  readonly json: Readonly<Record<string, unknown>>;
  readonly #rule: Readonly<Record<string, unknown>>;
  readonly #agent: Readonly<Record<string, unknown>>;

  constructor(json: Readonly<Record<string, unknown>>) {
    this.json = json;
    this.#rule = object(json['rule']);
    this.#agent = object(json['agent']);
  }

  /** @returns undefined when the line is no object of JSON with a rule: it was damaged */
  static parse(line: string): AlertView | undefined {
    try {
      const json: unknown = JSON.parse(line);
      return isObject(json) && isObject(json['rule']) ? new AlertView(json) : undefined;
    } catch {
      return undefined;
    }
  }

  /** `<seconds>.<offset>` */
  get id(): string {
    return text(this.json['id']);
  }

  /** `2025-03-04T10:15:30.123+0000` */
  get timestamp(): string {
    return text(this.json['timestamp']);
  }

  /** Epoch milliseconds; NaN when the timestamp is none. */
  get time(): number {
    return Date.parse(this.timestamp.replace(/([+-]\d{2})(\d{2})$/, '$1:$2'));
  }

  get ruleId(): string {
    return text(this.#rule['id']);
  }

  get level(): number {
    return typeof this.#rule['level'] === 'number' ? this.#rule['level'] : 0;
  }

  get description(): string {
    return text(this.#rule['description']);
  }

  get groups(): readonly string[] {
    return texts(this.#rule['groups']);
  }

  /** Whether the rule asks for mail (rules-and-alerts.md 7.5). */
  get mail(): boolean {
    return this.#rule['mail'] === true;
  }

  /** `000` for the manager; '' for what came without an agent. */
  get agentId(): string {
    return text(this.#agent['id']);
  }

  get agentName(): string {
    return text(this.#agent['name']);
  }

  /** Name of the manager. */
  get managerName(): string {
    return text(object(this.json['manager'])['name']);
  }

  /** As in alerts.json: without the agent. */
  get location(): string {
    return text(this.json['location']);
  }

  /** As in alerts.log: `(web) 10.0.0.7->/var/log/auth.log`, `mgr->/var/log/auth.log`. */
  get origin(): string {
    const { agentless } = this.json;
    if (isObject(agentless)) {
      return `(${text(agentless['script'])}) ${text(agentless['user'])}@${text(agentless['host'])}->${this.location}`;
    }
    if (this.agentId !== '' && this.agentId !== '000') {
      return `(${this.agentName}) ${text(this.#agent['ip']) || 'any'}->${this.location}`;
    }
    return `${this.hostname}->${this.location}`;
  }

  /** The host that wrote the log, as far as its header says so; else the manager. */
  get hostname(): string {
    return text(object(this.json['predecoder'])['hostname']) || this.managerName;
  }

  get fullLog(): string {
    return text(this.json['full_log']);
  }

  /** Logs of the events before, newest first; '' without. */
  get previousOutput(): string {
    return text(this.json['previous_output']);
  }

  /** A text of `data`; '' without. */
  data(name: DataText): string {
    return text(object(this.json['data'])[name]);
  }

  /** A text of `syscheck`, such as `md5_before`; '' without. */
  syscheck(name: string): string {
    return text(object(this.json['syscheck'])[name]);
  }
}

function object(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(text).filter((item) => item !== '') : [];
}
