import type { XmlElement } from '../xml/xml-element.js';
import { ConfigError, type ConfigWarning } from './config-error.js';

/** Most warnings kept of one file: a file of nothing but unknown attributes must not fill memory or the log. */
const MAX_WARNINGS = 200;

/**
 * Where the readers of one section report to: errors are thrown with the texts of daemons-and-config.md 1.1, warnings
 * are collected for the daemon that needs the section.
 */
export class ConfigReport {
  readonly file: string;
  readonly section: string;
  /** Whether the file is the agent.conf a manager pushed. */
  readonly shared: boolean;
  readonly #warnings: ConfigWarning[];

  /** @param warnings collected here, shared by all sections of the file */
  constructor(
    file: string,
    section: string,
    warnings: ConfigWarning[],
    { shared = false }: { readonly shared?: boolean } = {},
  ) {
    this.file = file;
    this.section = section;
    this.shared = shared;
    this.#warnings = warnings;
  }

  /** @param how whether it is known as an error, or as a line without a place */
  warn(element: XmlElement, text: string, how: Pick<ConfigWarning, 'level' | 'exact'> = {}): void {
    if (this.#warnings.length < MAX_WARNINGS) {
      this.#warnings.push({ file: this.file, line: element.line, section: this.section, text, ...how });
    }
  }

  error(element: XmlElement, code: number | undefined, text: string): ConfigError {
    return new ConfigError(code, text, { file: this.file, line: element.line }, element.name);
  }

  unknownElement(element: XmlElement): ConfigError {
    return this.error(element, 1230, `Invalid element in the configuration: '${element.name}'.`);
  }

  invalidAttribute(element: XmlElement, value: string): ConfigError {
    return this.error(element, 1233, `Invalid attribute '${value}' in the configuration: '${element.name}'.`);
  }

  missingValue(element: XmlElement, name = element.name): ConfigError {
    return this.error(element, 1234, `Invalid NULL content for element: ${name}.`);
  }

  invalidValue(element: XmlElement, value = element.content): ConfigError {
    return this.error(element, 1235, `Invalid value for element '${element.name}': ${value}.`);
  }

  tooMany(element: XmlElement, limit: number): ConfigError {
    return this.error(element, 1236, `Too many items in element '${element.name}': at most ${String(limit)}.`);
  }

  invalidAddress(element: XmlElement, value: string): ConfigError {
    return this.error(element, 1237, `Invalid ip address: '${value}'.`);
  }

  invalidTime(element: XmlElement, value = element.content): ConfigError {
    return this.error(element, 1240, `Invalid time format: '${value}'.`);
  }

  invalidDay(element: XmlElement, value = element.content): ConfigError {
    return this.error(element, 1241, `Invalid day format: '${value}'.`);
  }
}
