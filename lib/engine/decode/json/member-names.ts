import { flatBytes } from '../../byte-string.js';

/** Longer names are not kept: they come of hostile nesting, or carry values. */
const MAX_NAME = 256;
/** Bytes that kept names may take, about; a flood of made-up names only makes them begin anew. */
const MAX_BYTES = 4 * 1024 * 1024;
/** What a name takes beside its characters, with its place in a map; measured on V8 and rounded up. */
const NAME_BYTES = 250;
/** Names that are kept of one log: each costs about a microsecond, and a log can have ten thousand. */
const MAX_NEW = 256;
/** What cannot stand between quotes as it is, or is not read as it is written. */
const NEEDS_ESCAPE = /["\\\0]/;

/** Name of a member in the objects around it. Equal names of two logs are one object, unless they are not kept. */
export class MemberName {
  /** The object around it; undefined for the outermost one. */
  readonly parent: MemberName | undefined;
  /** With the names of the objects around it, dots between them. */
  readonly name: string;
  /** As compact JSON has it, with quotes and colon; undefined where nobody is to look for that. */
  readonly written: string | undefined;
  /** What came behind it in the last log that had it. */
  next: MemberName | undefined = undefined;
  members: Map<string, MemberName> | undefined = undefined;

  constructor(parent: MemberName | undefined, name: string, written: string | undefined) {
    this.parent = parent;
    this.name = name;
    this.written = written;
  }
}

/**
 * The names of members that logs had. Those of one source have the same ones, so that a name need not be put together,
 * hashed and compared for each of its logs.
 */
export class MemberNames {
  #outermost = new MemberName(undefined, '', undefined);
  #bytes = 0;
  #left = 0;

  /** Begins with a log; gives the outermost object. */
  begin(): MemberName {
    this.#left = MAX_NEW;
    if (this.#bytes > MAX_BYTES) {
      this.#outermost = new MemberName(undefined, '', undefined);
      this.#bytes = 0;
    }
    return this.#outermost;
  }

  /** The member of an object with this key. */
  of(object: MemberName, key: string): MemberName {
    return object.members?.get(key) ?? this.#make(object, key);
  }

  #make(object: MemberName, key: string): MemberName {
    const name = object.parent === undefined ? key : `${object.name}.${key}`;
    if (name.length > MAX_NAME || this.#left === 0) return new MemberName(object, name, undefined);
    this.#left -= 1;
    this.#bytes += NAME_BYTES + 2 * name.length;
    const written = NEEDS_ESCAPE.test(key) ? undefined : flatBytes(`"${key}":`);
    const member = new MemberName(object, flatBytes(name), written);
    object.members ??= new Map<string, MemberName>();
    object.members.set(flatBytes(key), member);
    return member;
  }
}
