import type { XmlElement } from '../xml/xml-element.js';

/** A value of the API's view: text everywhere, in arrays and objects. */
export type RenderedOption = string | RenderedOption[] | { [name: string]: RenderedOption };

/** Sections' elements that are shown as a flat object of child texts. */
const FLAT_OBJECTS = new Set(['syscheck/synchronization', 'syscheck/whodata', 'cluster/haproxy_helper']);
/** Sections' elements that are shown as an array of child texts. */
const CHILD_TEXTS = new Set(['cluster/nodes', 'indexer/hosts', 'sca/policies']);

/** Name of an element in the view. */
export function childName(element: XmlElement): string {
  return element.name.toLowerCase();
}

/**
 * One element of a section, by the value rules of daemons-and-config.md 1.4.
 * @returns undefined for an element without text, attributes and children: it is left out
 */
export function renderOption(section: string, option: XmlElement): RenderedOption | undefined {
  const path = `${section}/${childName(option)}`;
  if (FLAT_OBJECTS.has(path)) {
    return flatObject(option);
  }
  if (CHILD_TEXTS.has(path)) {
    return option.children.map(text).filter((child) => child !== '');
  }
  switch (path) {
    case 'syscheck/directories':
      return directories(option);
    case 'labels/label':
      return withAttributes({ value: text(option) }, option);
    case 'remote/protocol':
      return option.content === '' ? undefined : commaParts(text(option));
    case 'localfile/query':
      return text(option);
    case 'open-scap/content':
      return { ...withAttributes({}, option), profiles: option.children.map(text) };
    default:
      return plainOption(option);
  }
}

function plainOption(option: XmlElement): RenderedOption | undefined {
  if (option.children.length > 0) {
    return withChildren(withAttributes({}, option), option);
  }
  if (option.attributes.length === 0) {
    return option.content === '' ? undefined : text(option);
  }
  const result = withAttributes({}, option);
  if (option.content !== '') {
    result['item'] = text(option);
  }
  return result;
}

function withChildren(result: RenderedObjectLike, option: XmlElement): RenderedObjectLike {
  for (const child of option.children) {
    const value = plainOption(child);
    if (value === undefined) {
      continue;
    }
    const name = childName(child);
    const existing = Object.hasOwn(result, name) ? result[name] : undefined;
    if (Array.isArray(existing)) {
      existing.push(value);
    } else {
      define(result, name, [value]);
    }
  }
  return result;
}

type RenderedObjectLike = Record<string, RenderedOption>;

function withAttributes(first: RenderedObjectLike, option: XmlElement): RenderedObjectLike {
  const result: RenderedObjectLike = { ...first };
  for (const { name, value } of option.attributes) {
    define(result, name, decode(value));
  }
  return result;
}

function flatObject(option: XmlElement): RenderedOption {
  const result: RenderedObjectLike = {};
  for (const child of option.children) {
    const value = child.children.length > 0 ? child.children.map(text) : text(child);
    if (value.length > 0) {
      define(result, childName(child), typeof value === 'string' && value.includes(',') ? commaParts(value) : value);
    }
  }
  return result;
}

function directories(option: XmlElement): RenderedOption[] {
  return commaParts(text(option))
    .filter((path) => path !== '')
    .map((path) => {
      const result = withAttributes({}, option);
      define(result, 'path', path);
      return result;
    });
}

function commaParts(value: string): string[] {
  return value.split(',').map((part) => part.trim());
}

function text(element: XmlElement): string {
  return decode(element.content);
}

/** `&amp;` is the only entity that is resolved (1.4 rule 7). */
function decode(value: string): string {
  return value.replaceAll('&amp;', '&');
}

/** Sets a member whatever its name is: `__proto__` is a name like any other here. */
function define(object: RenderedObjectLike, name: string, value: RenderedOption): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
