/** A set of bytes: 256 flags. */
export type ByteSet = Uint8Array;

export type AssertionKind =
  'start' | 'line-start' | 'end' | 'end-or-final-newline' | 'line-end' | 'word-boundary' | 'no-word-boundary';

/** Syntax tree of a PCRE2 pattern in byte mode. Case folding, `(?x)`, `(?U)`, `\Q..\E` are resolved while parsing. */
export type Node =
  | { readonly kind: 'empty' }
  | { readonly kind: 'set'; readonly set: ByteSet }
  | { readonly kind: 'sequence'; readonly items: readonly Node[] }
  | { readonly kind: 'alternation'; readonly branches: readonly Node[] }
  | { readonly kind: 'capture'; readonly index: number; readonly body: Node }
  | { readonly kind: 'atomic'; readonly body: Node }
  | {
      readonly kind: 'repeat';
      readonly body: Node;
      readonly min: number;
      /** Infinity = no upper limit. */
      readonly max: number;
      readonly mode: 'greedy' | 'lazy' | 'possessive';
    }
  | { readonly kind: 'assertion'; readonly assertion: AssertionKind }
  | { readonly kind: 'look'; readonly behind: boolean; readonly negative: boolean; readonly body: Node }
  | { readonly kind: 'back-reference'; readonly index: number; readonly fold: boolean }
  /** `(?1)`, `(?R)` (index 0): the group's body, run again, atomic, captures restored afterwards. */
  | { readonly kind: 'call'; readonly index: number }
  | {
      readonly kind: 'conditional';
      /** A group number that must be set, or a look-around. */
      readonly condition: number | Node;
      readonly yes: Node;
      readonly no: Node;
    };

export type Pattern = { readonly root: Node; readonly captures: number };

/** Adds up to three child nodes of any node: the one place that knows where children are. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'sequence':
      return node.items;
    case 'alternation':
      return node.branches;
    case 'capture':
    case 'atomic':
    case 'repeat':
    case 'look':
      return [node.body];
    case 'conditional':
      return typeof node.condition === 'number' ? [node.yes, node.no] : [node.condition, node.yes, node.no];
    default:
      return [];
  }
}
