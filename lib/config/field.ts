import type { XmlElement } from '../xml/xml-element.js';
import type { ConfigReport } from './config-report.js';

/**
 * How one element of the configuration is read: the value without it, and what one occurrence makes of the value so far.
 * Repeat rules (last wins, lists grow; daemons-and-config.md 1.1) are therefore the field's own.
 */
export interface Field<T> {
  readonly initial: T;
  readonly attributes: KnownAttributes;
  /** The elements inside it, where it has any. */
  readonly shape?: Shape;
  /** @throws ConfigError */
  fold(previous: T, element: XmlElement, report: ConfigReport): T;
}

/** Attribute names an element may carry, others are reported; or 'own' where the field looks at attributes itself. */
export type KnownAttributes = readonly string[] | 'own';

/** Most items of one list: each is kept in memory, and looked at by whoever uses the section. */
export const MAX_ITEMS = 10_000;

/** The elements of a section by name; names are as users write them. */
export type Shape = Readonly<Record<string, Field<unknown>>>;

/** What a shape is read to: one member an element. */
export type Values<S extends Shape> = { readonly [K in keyof S]: S[K] extends Field<infer T> ? T : never };

/** What happens to an element that the shape does not name. */
export type UnknownPolicy = 'refuse' | 'warn';

/** An element without attributes whose last occurrence wins. */
export function scalar<T>(initial: T, parse: (element: XmlElement, report: ConfigReport) => T): Field<T> {
  return { initial, attributes: [], fold: (_previous, element, report) => parse(element, report) };
}

/** An element with the given attributes whose last occurrence wins. */
export function attributed<T>(
  initial: T,
  attributes: readonly string[],
  parse: (element: XmlElement, report: ConfigReport) => T,
): Field<T> {
  return { initial, attributes, fold: (_previous, element, report) => parse(element, report) };
}

/** An element whose occurrences add items; `parse` returns undefined for an occurrence that is left out. */
export function list<T>(
  parse: (element: XmlElement, report: ConfigReport) => T | undefined,
  attributes: KnownAttributes = [],
): Field<readonly T[]> {
  return {
    initial: [],
    attributes,
    fold(previous, element, report) {
      const item = parse(element, report);
      return item === undefined ? previous : append(previous, [item], element, report);
    },
  };
}

/** An element of which each occurrence may give several items. */
export function flatList<T>(
  parse: (element: XmlElement, report: ConfigReport) => readonly T[],
  attributes: KnownAttributes = [],
): Field<readonly T[]> {
  return {
    initial: [],
    attributes,
    fold: (previous, element, report) => append(previous, parse(element, report), element, report),
  };
}

/**
 * Lists that were begun while one block is read, by its report. Nobody else has them yet, so they grow in place: copied
 * for each item, a block of nothing but items would take quadratic time.
 */
const growing = new WeakMap<readonly unknown[], ConfigReport>();

/** `previous` and the items after it. @throws ConfigError (1236) */
export function append<T>(
  previous: readonly T[],
  items: readonly T[],
  element: XmlElement,
  report: ConfigReport,
): readonly T[] {
  if (previous.length + items.length > MAX_ITEMS) {
    throw report.tooMany(element, MAX_ITEMS);
  }
  if (growing.get(previous) === report) {
    (previous as T[]).push(...items);
    return previous;
  }
  const begun = [...previous, ...items];
  growing.set(begun, report);
  return begun;
}

/** Initial values of all elements of a shape. */
export function initialValues<S extends Shape>(shape: S): Values<S> {
  return Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, field.initial])) as Values<S>;
}

/**
 * Folds the children of one block into values.
 * @throws ConfigError (1230) for an element the shape does not name, unless `unknown` is 'warn'
 */
export function foldChildren<S extends Shape>(
  shape: S,
  previous: Values<S>,
  block: XmlElement,
  report: ConfigReport,
  unknown: UnknownPolicy = 'refuse',
): Values<S> {
  const values: Record<string, unknown> = { ...previous };
  for (const child of block.children) {
    // Names come from outside: only the shape's own members count.
    const field = Object.hasOwn(shape, child.name) ? shape[child.name] : undefined;
    if (field === undefined) {
      if (unknown === 'refuse') {
        throw report.unknownElement(child);
      }
      report.warn(child, `(1230): Invalid element in the configuration: '${child.name}'.`);
      continue;
    }
    reportUnknownAttributes(field.attributes, child, report);
    values[child.name] = field.fold(values[child.name], child, report);
  }
  return values as Values<S>;
}

/** Elements inside an element; several occurrences are merged. */
export function group<S extends Shape>(shape: S, unknown: UnknownPolicy = 'refuse'): Field<Values<S>> {
  return {
    initial: initialValues(shape),
    attributes: [],
    shape,
    fold: (previous, element, report) => foldChildren(shape, previous, element, report, unknown),
  };
}

/** A group that is undefined until it occurs. */
export function optionalGroup<S extends Shape>(
  shape: S,
  unknown: UnknownPolicy = 'refuse',
): Field<Values<S> | undefined> {
  const inner = group(shape, unknown);
  return {
    initial: undefined,
    attributes: [],
    shape,
    fold: (previous, element, report) => inner.fold(previous ?? inner.initial, element, report),
  };
}

/** A group of which every occurrence is an item of its own. `finish` checks it and may leave it out with undefined. */
export function blocks<S extends Shape, T = Values<S>>(
  shape: S,
  finish: (values: Values<S>, block: XmlElement, report: ConfigReport) => T | undefined,
): Field<readonly T[]> {
  const initial = initialValues(shape);
  return { ...list((block, report) => finish(foldChildren(shape, initial, block, report), block, report)), shape };
}

/** A section of which only the last block counts. */
export function lastBlock<T>(inner: Field<T>): Field<T> {
  return { ...inner, fold: (_previous, element, report) => inner.fold(inner.initial, element, report) };
}

/** Takes elements unread, for parts of the configuration that their module reads itself. */
export function unread(): Field<readonly XmlElement[]> {
  return {
    initial: [],
    attributes: 'own',
    fold: (previous, element, report) => append(previous, [element], element, report),
  };
}

/** An element that is accepted and has no effect; users are told of it by the table in effects/. */
export function ignored(): Field<undefined> {
  return { initial: undefined, attributes: 'own', fold: () => undefined };
}

/** Warns of attributes that nobody reads, so that a misspelt one is not lost silently. */
export function reportUnknownAttributes(known: KnownAttributes, element: XmlElement, report: ConfigReport): void {
  if (known === 'own') {
    return;
  }
  for (const { name } of element.attributes) {
    if (!known.includes(name)) {
      report.warn(element, `(1233): Invalid attribute '${name}' in the configuration: '${element.name}'.`);
    }
  }
}
