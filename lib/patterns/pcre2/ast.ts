/** A set of bytes: 256 flags. */
export type ByteSet = Uint8Array;

export type AssertionKind =
  | 'start'
  | 'line-start'
  | 'end'
  | 'end-or-final-newline'
  | 'line-end'
  | 'word-boundary'
  | 'no-word-boundary';

/** What a conditional group asks. */
export type GroupCondition =
  | { readonly kind: 'group-set'; readonly index: number }
  /** Inside a call, of group `index` where one is given. */
  | { readonly kind: 'in-call'; readonly index: number | undefined }
  | { readonly kind: 'look'; readonly look: LookNode }
  | { readonly kind: 'never' };

export type LookNode = {
  readonly kind: 'look';
  readonly behind: boolean;
  readonly negative: boolean;
  readonly body: PatternNode;
};

/** Syntax tree of a PCRE2 pattern in byte mode. Case folding, settings, comments and `\Q..\E` are resolved in parsing. */
export type PatternNode =
  | { readonly kind: 'empty' }
  | { readonly kind: 'fail' }
  | { readonly kind: 'set'; readonly set: ByteSet }
  | { readonly kind: 'sequence'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'alternation'; readonly branches: readonly PatternNode[] }
  | { readonly kind: 'capture'; readonly index: number; readonly body: PatternNode }
  | { readonly kind: 'atomic'; readonly body: PatternNode }
  | {
      readonly kind: 'repeat';
      readonly body: PatternNode;
      readonly min: number;
      /** Infinity = no upper limit. */
      readonly max: number;
      readonly mode: 'greedy' | 'lazy' | 'possessive';
    }
  | { readonly kind: 'assertion'; readonly assertion: AssertionKind }
  | LookNode
  | { readonly kind: 'back-reference'; readonly index: number; readonly fold: boolean }
  /** `(?1)`, `(?R)` (index 0): the group's body run again; its captures are forgotten afterwards. */
  | { readonly kind: 'call'; readonly index: number }
  | {
      readonly kind: 'conditional';
      readonly condition: GroupCondition;
      readonly yes: PatternNode;
      readonly no: PatternNode;
    };

export type Pattern = {
  readonly root: PatternNode;
  /** Number of capture groups. */
  readonly captures: number;
  /** Whether the subject has to be UTF-8: PCRE2 reports an error, which counts as no match, where it is not. */
  readonly utf: boolean;
};

export const EMPTY: PatternNode = { kind: 'empty' };

/** The one place that knows where the children of a node are. */
export function childrenOf(node: PatternNode): readonly PatternNode[] {
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
      return node.condition.kind === 'look' ? [node.condition.look, node.yes, node.no] : [node.yes, node.no];
    case 'empty':
    case 'fail':
    case 'set':
    case 'assertion':
    case 'back-reference':
    case 'call':
      return [];
  }
}

/** Whether a predicate holds for the node or one below it. */
export function someNode(node: PatternNode, predicate: (node: PatternNode) => boolean): boolean {
  return predicate(node) || childrenOf(node).some((child) => someNode(child, predicate));
}
