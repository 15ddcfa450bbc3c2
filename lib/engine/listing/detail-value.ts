import type { XmlAttribute, XmlElement } from '../../xml/xml-element.js';

/** Attributes of an element, with its text as `pattern` or `name`. Has no prototype: names come from files. */
export type DetailObject = Readonly<Record<string, string>>;
/** A value in `details` of a listed rule or decoder (rules-and-alerts.md 10.2). */
export type DetailValue = string | readonly string[] | DetailObject | readonly DetailObject[];

/** Collects `details` of one rule or decoder. */
export class Details {
  readonly values: Record<string, DetailValue>;

  constructor() {
    this.values = Object.create(null) as Record<string, DetailValue>;
  }

  setText(key: string, text: string): void {
    this.values[key] = text;
  }

  /** Repeated elements become an array of their texts. */
  addText(key: string, text: string): void {
    const before = this.values[key];
    if (before === undefined) {
      this.values[key] = text;
    } else if (isList(before)) {
      this.values[key] = [...(before as readonly string[]), text];
    } else {
      // The key may hold a pattern when a `field` has the name of an element: its text is what is comparable.
      this.values[key] = [typeof before === 'string' ? before : (before['pattern'] ?? ''), text];
    }
  }

  /** Repeated patterns are joined without separator, as the engine does; the attributes are those of the last. */
  addPattern(key: string, text: string, attributes: readonly XmlAttribute[]): void {
    const before = this.values[key];
    const pattern =
      before !== undefined && typeof before !== 'string' && !isList(before) ? before['pattern'] : undefined;
    this.values[key] = withAttributes('pattern', (pattern ?? '') + text, attributes);
  }

  /** `{name: text, ...attributes}`; repeated elements become an array. */
  addNamed(key: string, element: XmlElement): void {
    const value = withAttributes('name', element.content, element.attributes);
    const before = this.values[key];
    if (before === undefined || typeof before === 'string') {
      this.values[key] = value;
    } else {
      this.values[key] = isList(before) ? [...(before as readonly DetailObject[]), value] : [before, value];
    }
  }
}

function isList(value: DetailValue): value is readonly string[] | readonly DetailObject[] {
  return Array.isArray(value);
}

function withAttributes(key: string, text: string, attributes: readonly XmlAttribute[]): DetailObject {
  const result = Object.create(null) as Record<string, string>;
  result[key] = text;
  for (const { name, value } of attributes) {
    result[name] = value;
  }
  return result;
}
