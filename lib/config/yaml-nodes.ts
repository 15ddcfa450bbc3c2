import { CORE_SCHEMA, FAILSAFE_SCHEMA, load, type State, YAMLException } from 'js-yaml';

/** Deepest nesting; the parser itself recurses. */
const MAX_DEPTH = 64;

/** A YAML text that cannot be used. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
  /** First line 1; 0 when unknown. */
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** A node as it stands in the text; of a mapping, keys and values follow each other in `children`. */
export type YamlNode = {
  /** First line 1. */
  readonly line: number;
  /** null for a node without content and for an alias. */
  readonly kind: string | null;
  readonly value: unknown;
  /** Whether it is an alias or carries an anchor or a tag. Told only of a document that is read as text only. */
  readonly decorated: boolean;
  readonly children: readonly YamlNode[];
};

type OpenNode = { -readonly [K in keyof YamlNode]: YamlNode[K] } & { children: YamlNode[] };

export type YamlNodesOptions = {
  /** Every scalar is text, whatever it looks like: `010` and `yes` stay what they are. */
  readonly textOnly?: boolean;
  /** A key that is repeated in a mapping is no error: the value has the last one, the children all. */
  readonly repeatedKeys?: boolean;
};

/**
 * Reads one YAML document and tells where everything stands.
 * @throws YamlError for what is no such document, or too deep a one
 */
export function readYamlNodes(
  text: string,
  { textOnly = false, repeatedKeys = false }: YamlNodesOptions = {},
): { readonly value: unknown; readonly root: YamlNode | undefined } {
  const open: OpenNode[] = [];
  let root: YamlNode | undefined;
  type ParserState = State & {
    line: number;
    kind: string | null;
    tag: string | null;
    anchor: string | null;
    result: unknown;
  };
  const listener = (event: 'open' | 'close', state: ParserState): void => {
    if (event === 'open') {
      open.push({ line: state.line + 1, children: [], kind: null, value: undefined, decorated: false });
      if (open.length > MAX_DEPTH * 2) {
        throw new YamlError(`nested too deeply, at most ${String(MAX_DEPTH)} levels are allowed`, state.line + 1);
      }
      return;
    }
    const node = open.pop();
    if (node !== undefined) {
      node.kind = state.kind;
      node.value = state.result;
      // The parser gives plain scalars the tag `?`; an alias has content and no kind.
      const tagged = state.tag !== null && state.tag !== '?';
      node.decorated = tagged || state.anchor !== null || (state.kind === null && state.result !== null);
      unwrap(node);
      open.at(-1)?.children.push(node);
      root = node;
    }
  };
  try {
    const value = load(text, {
      schema: textOnly ? FAILSAFE_SCHEMA : CORE_SCHEMA,
      json: repeatedKeys,
      listener: listener as (event: 'open' | 'close', state: State) => void,
    });
    return { value, root };
  } catch (error) {
    if (error instanceof YAMLException) {
      // The mark is missing where the parser has none, whatever the types say.
      const mark = error.mark as { readonly line: number } | undefined;
      throw new YamlError(error.reason, mark === undefined ? 0 : mark.line + 1);
    }
    throw error;
  }
}

/** The parser first takes what may be a key of a mapping for one: then the node has itself for its only child. */
function unwrap(node: OpenNode): void {
  const [child, ...others] = node.children;
  if (child === undefined || others.length > 0) return;
  if (child.kind === null || child.kind !== node.kind || !Object.is(child.value, node.value)) return;
  node.line = child.line;
  node.children = [...child.children];
  node.decorated ||= child.decorated;
}
