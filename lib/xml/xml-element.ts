/** One attribute of an element, verbatim. */
export type XmlAttribute = {
  readonly name: string;
  readonly value: string;
};

/** One element of the dialect of decoding.md 2. Names are as written; consumers decide how to compare them. */
export type XmlElement = {
  readonly name: string;
  /** In the order written, names distinct (case-sensitively). */
  readonly attributes: readonly XmlAttribute[];
  /** Verbatim: no trimming, no entities; of an element with children, what follows the last child. */
  readonly content: string;
  readonly children: readonly XmlElement[];
  /** Line of the opening `<`, first line 1. */
  readonly line: number;
  /** Offsets in the text between which the whole element stands as written, tags included. */
  readonly start: number;
  readonly end: number;
  /** Offsets in the text between which the element's inside stands as written (for consumers that keep inner XML). */
  readonly innerStart: number;
  readonly innerEnd: number;
};

/** Value of the attribute with exactly this name, or undefined. */
export function attributeValue(element: XmlElement, name: string): string | undefined {
  for (const attribute of element.attributes) {
    if (attribute.name === name) {
      return attribute.value;
    }
  }
  return undefined;
}
