/** How much memory the remembered events of one store may take, by its own estimate. */
export interface MemoryAllowance {
  /** Bytes it may take now. */
  readonly bytes: number;
  /** Bytes below that limit to which it forgets when it may not take more, so that a flood need not ask at each event. */
  readonly slack: number;
  /** Asks for more. @returns whether `bytes` has grown */
  more(): boolean;
  /** Gives back what is not needed. @param used bytes that the store takes */
  giveBack(used: number): void;
}

/** Parts of its bound that a store that is alone keeps free when it has to forget: whose events go is decided once for so many. */
const FIXED_SLACK = 1 / 64;

/** A store that is alone has its bound from the beginning. */
export class FixedAllowance implements MemoryAllowance {
  readonly bytes: number;
  readonly slack: number;

  constructor(bytes: number) {
    this.bytes = bytes;
    this.slack = Math.floor(bytes * FIXED_SLACK);
  }

  more(): boolean {
    return false;
  }

  giveBack(): void {}
}

/** The part of the whole that is divided between shards beforehand; the rest goes to those that need it. */
const DIVIDED = 1 / 4;
/** Parts of what a shard has from the beginning: what it keeps free when it may not take more. */
const SLACK = 1 / 8;
/** Pieces that a shard keeps for what comes next before it gives one back. */
const KEPT_PIECES = 2;

/** How a bound on the memory of all shards together is divided. */
export type AllowanceLayout = {
  /** Bytes that each shard may take whatever the others do, and bytes of a piece that it may get beside them. */
  readonly piece: number;
  /** Pieces there are beside. */
  readonly pieces: number;
};

/** @param maxBytes bound on all shards together */
export function allowanceLayout(maxBytes: number, shards: number): AllowanceLayout {
  const piece = Math.floor((maxBytes * DIVIDED) / shards);
  return { piece, pieces: Math.floor(maxBytes / piece) - shards };
}

/** Where a shard gets its pieces from. */
export interface PieceSource {
  /** Whether the shard gets a piece. */
  take(shard: number): boolean;
  giveBack(shard: number): void;
}

/**
 * What one of several shards may take: a part of its own, and pieces of what all share while there are any. One agent's flood
 * fills what is left over, and never takes the others' part.
 */
export class ShardAllowance implements MemoryAllowance {
  readonly slack: number;
  readonly #shard: number;
  readonly #piece: number;
  readonly #source: PieceSource;
  #pieces: number;

  /** @param pieces that the shard has taken before */
  constructor(shard: number, { piece }: AllowanceLayout, source: PieceSource, pieces: number) {
    this.#shard = shard;
    this.#piece = piece;
    this.#source = source;
    this.#pieces = pieces;
    this.slack = Math.floor(piece * SLACK);
  }

  get bytes(): number {
    return this.#piece * (1 + this.#pieces);
  }

  more(): boolean {
    if (!this.#source.take(this.#shard)) return false;
    this.#pieces += 1;
    return true;
  }

  giveBack(used: number): void {
    while (this.#pieces > 0 && used < this.bytes - KEPT_PIECES * this.#piece) {
      this.#pieces -= 1;
      this.#source.giveBack(this.#shard);
    }
  }
}

/** The pieces that all shards share. Who takes one is decided in the order of the events, so that a replay decides the same. */
export class SharedPieces implements PieceSource {
  readonly #taken: number[];
  #free: number;

  /** @param taken pieces that each shard has taken before, if any */
  constructor(layout: AllowanceLayout, shards: number, taken: readonly number[]) {
    this.#taken = Array.from({ length: shards }, (_, shard) => taken[shard] ?? 0);
    this.#free = layout.pieces - taken.reduce((sum, pieces) => sum + pieces, 0);
  }

  /** Pieces that each shard has; plain data for a snapshot. */
  get taken(): readonly number[] {
    return this.#taken;
  }

  take(shard: number): boolean {
    if (this.#free <= 0) return false;
    this.#free -= 1;
    this.#taken[shard] = (this.#taken[shard] ?? 0) + 1;
    return true;
  }

  giveBack(shard: number): void {
    this.#free += 1;
    this.#taken[shard] = (this.#taken[shard] ?? 0) - 1;
  }
}
