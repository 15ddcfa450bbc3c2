import { readYamlNodes, YamlError, type YamlNode, type YamlNodesOptions } from './yaml-nodes.js';

/** Most nodes of a document, aliases counted as often as they are used: stops aliases of aliases from exploding. */
const MAX_NODES = 10_000;
/** Deepest nesting, aliases followed. */
const MAX_DEPTH = 64;

/** A YAML document of plain values that knows where its keys stand. */
export type YamlDocument = {
  /** null for an empty document. */
  readonly value: unknown;
  /** Line of the key at the path, or of the nearest key above it; 0 when nothing is known. */
  lineOf(path: readonly PropertyKey[]): number;
};

export type YamlDocumentOptions = Pick<YamlNodesOptions, 'textOnly'> & {
  /** Values that a document may have, {@link MAX_NODES} by default. */
  readonly maxNodes?: number;
};

/**
 * Reads one YAML document without tags of its own: maps, lists, text, numbers, true/false and null (`yes` and `no` are
 * text).
 * @throws YamlError for what is no such document, or too large a one
 */
export function readYaml(text: string, { maxNodes = MAX_NODES, ...options }: YamlDocumentOptions = {}): YamlDocument {
  const { value, root } = readYamlNodes(text, options);
  countNodes(value, 0, { left: maxNodes, most: maxNodes });
  return {
    value: value ?? null,
    lineOf: (path) => lineOf(root, path),
  };
}

function countNodes(value: unknown, depth: number, budget: { left: number; readonly most: number }): void {
  budget.left -= 1;
  if (budget.left < 0) {
    throw new YamlError(`too large, at most ${String(budget.most)} values are allowed`, 0);
  }
  if (depth > MAX_DEPTH) {
    throw new YamlError(`nested too deeply, at most ${String(MAX_DEPTH)} levels are allowed`, 0);
  }
  if (typeof value === 'object' && value !== null) {
    for (const child of Object.values(value)) {
      countNodes(child, depth + 1, budget);
    }
  }
}

function lineOf(root: YamlNode | undefined, path: readonly PropertyKey[]): number {
  let node = root;
  let line = 0;
  for (const step of path) {
    if (node === undefined) {
      break;
    }
    if (node.kind === 'mapping') {
      // Keys and values follow each other.
      const index = node.children.findIndex((child, at) => at % 2 === 0 && String(child.value) === String(step));
      line = index < 0 ? line : (node.children[index]?.line ?? line);
      node = index < 0 ? undefined : node.children[index + 1];
    } else if (node.kind === 'sequence' && typeof step === 'number') {
      node = node.children[step];
      line = node?.line ?? line;
    } else {
      break;
    }
  }
  return line;
}
