/** Texts of that many bytes are worth to be found again; a longer one is hardly the same for two agents. */
const MAX_SHARED_TEXT = 256;
/** Texts that are found again for certain, up to twice as many are: agents that make texts up push out others', no more. */
const FOUND_TEXTS = 8192;
/** The same of lists, and the longest of them: 16 MiB at most, whatever agents make up. */
const FOUND_LISTS = 1024;
const MAX_SHARED_IDS = 2048;

/** Ids of checks: whole numbers of 32 bits as a rule, but an agent may send any. */
export type CheckIds = Int32Array | Float64Array;

/**
 * Values that many agents have in common are kept once: ids of a policy's checks, its name, its file's hash, results. What
 * is not found again is kept twice and works the same, so nothing needs to be counted or released.
 */
export class SharedValues {
  readonly #texts = new RecentValues<string, string>(FOUND_TEXTS);
  readonly #lists = new RecentValues<number, Int32Array>(FOUND_LISTS);

  /** The same text, which holds no other one alive: a part of a message would keep the whole message. */
  text(text: string): string {
    if (text.length > MAX_SHARED_TEXT) return ownText(text);
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const own = ownText(text);
    this.#texts.set(own, own);
    return own;
  }

  /** A list with the same ids; not to be changed, as others have it, too. */
  ids(ids: CheckIds): CheckIds {
    if (ids instanceof Float64Array || ids.length > MAX_SHARED_IDS) return ids;
    const key = hashOf(ids);
    const known = this.#lists.get(key);
    if (known?.length === ids.length && known.every((id, index) => id === ids[index])) return known;
    this.#lists.set(key, ids);
    return ids;
  }
}

/** Values by their keys, which are forgotten some time after they were last asked for. */
class RecentValues<K, V> {
  readonly #most: number;
  #recent = new Map<K, V>();
  #older = new Map<K, V>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: K): V | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: K, value: V): void {
    this.#recent.set(key, value);
    if (this.#recent.size < this.#most) return;
    this.#older = this.#recent;
    this.#recent = new Map();
  }
}

/** A copy: V8 keeps a part of a text as a reference to the whole. */
function ownText(text: string): string {
  const copy = Buffer.from(text, 'latin1').toString('latin1');
  // The engine's texts are byte strings; another one, of a test say, is kept as it is.
  return copy === text ? copy : text;
}

function hashOf(ids: Int32Array): number {
  let hash = ids.length;
  for (const id of ids) hash = Math.imul(hash ^ id, 0x0100_0193);
  return hash;
}
