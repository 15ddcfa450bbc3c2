import type { Logger } from '../log/logger.js';

/** Where in which file something of the configuration stands. */
export type ConfigPlace = {
  /** Path relative to the home, as users know it: `etc/manager.conf`. */
  readonly file: string;
  /** First line 1; 0 when the whole file is meant. */
  readonly line: number;
};

/**
 * A configuration that cannot be used. `text` is the message users of the reference know, with its number
 * (daemons-and-config.md 1.1 and 13); `message` adds the place.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** Number in front of the text, such as 1230; undefined for the few errors that have none. */
  readonly code: number | undefined;
  /** `(1235): Invalid value for element 'port': x.` */
  readonly text: string;
  readonly file: string;
  readonly line: number;
  /** Element or option that is wrong, when it is one. */
  readonly element: string | undefined;
  /** What helps to find the mistake, beside the text that users know: a sentence. */
  readonly hint: string | undefined;

  constructor(code: number | undefined, text: string, place: ConfigPlace, element?: string, hint?: string) {
    const numbered = code === undefined ? text : `(${String(code)}): ${text}`;
    super(`${hint === undefined ? numbered : `${numbered} ${hint}`} ${describePlace(place)}`);
    this.code = code;
    this.text = numbered;
    this.file = place.file;
    this.line = place.line;
    this.element = element;
    this.hint = hint;
  }

  /** The two lines a daemon logs before it exits 1, the first at ERROR and the second at CRITICAL (spec 1.1). */
  logLines(): { readonly error: string; readonly critical: string } {
    const line = this.line > 0 ? ` Line ${String(this.line)}.` : '';
    const error = this.hint === undefined ? this.text : `${this.text} ${this.hint}`;
    return { error, critical: `(1202): Configuration error at '${this.file}'.${line}` };
  }
}

/** Something in the configuration that is ignored or changed, to be logged as a warning by the daemon it concerns. */
export type ConfigWarning = ConfigPlace & {
  /** Section it stands in; '' for the file as a whole. */
  readonly section: string;
  /** Without the place. */
  readonly text: string;
  /** Where users know it as an error, although the rest of the configuration is used. */
  readonly level?: 'error';
  /** Whether users know the text as the whole line: the place is then not added. */
  readonly exact?: boolean;
};

/** A warning as it is logged. */
export function describeWarning(warning: ConfigWarning): string {
  return warning.exact === true ? warning.text : `${warning.text} ${describePlace(warning)}`;
}

/** Logs the warnings of a configuration, each at its level. */
export function logConfigWarnings(warnings: readonly ConfigWarning[], logger: Pick<Logger, 'warn' | 'error'>): void {
  for (const warning of warnings) {
    logger[warning.level ?? 'warn'](describeWarning(warning));
  }
}

/** `(etc/manager.conf, line 12)` */
export function describePlace(place: ConfigPlace): string {
  return place.line > 0 ? `(${place.file}, line ${String(place.line)})` : `(${place.file})`;
}
