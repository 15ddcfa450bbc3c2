import { applyVariables } from '../../xml/apply-variables.js';
import { parseXml } from '../../xml/parse-xml.js';
import type { XmlElement } from '../../xml/xml-element.js';
import { XmlError } from '../../xml/xml-error.js';
import type { DecoderSet } from '../decode/decoder-set.js';
import { DecoderTree } from '../decode/decoder-tree.js';
import type { Diagnostics } from '../event.js';
import type { DecoderDefinition } from './decoder-definition.js';
import { failLoad } from './fail-load.js';
import type { PatternCompiler } from './pattern-compiler.js';
import { readDecoder } from './read-decoder/read-decoder.js';
import type { RulesetSource } from './ruleset-source.js';

/** Default of `analysisd.decoder_order_size`; allowed are 32 to 1024. */
export const DEFAULT_ORDER_SIZE = 256;

/** What loading decoders needs. */
export type LoadDecodersOptions = {
  readonly diagnostics: Diagnostics;
  readonly compilePattern: PatternCompiler;
  readonly orderSize?: number;
};

/** A user's decoder file may be there without anything in it. */
const MAY_BE_EMPTY = /(?:^|\/)local_decoder\.xml$/;

/**
 * Loads decoders (decoding.md 4.1 to 4.4).
 *
 * @param sources the files in load order (see `selectRulesetFiles`)
 * @throws RulesetError when the set cannot be used; every text of the failure went to the diagnostics before
 */
export function loadDecoders(sources: readonly RulesetSource[], options: LoadDecodersOptions): DecoderSet {
  const orderSize = options.orderSize ?? DEFAULT_ORDER_SIZE;
  const tree = new DecoderTree(options.diagnostics, options.compilePattern);
  for (const source of sources) {
    for (const definition of readDecoderFile(source, options.diagnostics, orderSize)) {
      tree.add(definition);
    }
  }
  return tree.finish(orderSize);
}

/** Decoders of one file, each read when it is asked for: the ones before a broken one have reached the tree by then. */
function* readDecoderFile(
  source: RulesetSource,
  diagnostics: Diagnostics,
  orderSize: number,
): Generator<DecoderDefinition> {
  const file = source.path;
  const elements = readElements(source, diagnostics);
  if (elements.length === 0 && !MAY_BE_EMPTY.test(file)) {
    const text =
      source.content === ''
        ? `(1202): Configuration error at '${file}'.`
        : '(1231): Invalid NULL element in the configuration.';
    failLoad(diagnostics, { file, line: 0 }, text);
  }
  for (const element of elements) {
    if (element.name.toLowerCase() !== 'decoder') {
      const text = `(1230): Invalid element in the configuration: '${element.name}'.`;
      failLoad(diagnostics, { file, line: element.line }, text);
    }
    yield readDecoder(element, { file, diagnostics, orderSize });
  }
}

function readElements(source: RulesetSource, diagnostics: Diagnostics): readonly XmlElement[] {
  const file = source.path;
  let read = false;
  try {
    const elements = parseXml(source.content, file);
    read = true;
    return applyVariables(elements, file);
  } catch (error) {
    if (!(error instanceof XmlError)) {
      throw error;
    }
    const text = read
      ? `(1227): Error applying XML variables '${file}': ${error.message}.`
      : `(1226): Error reading XML file '${file}': ${error.message} (line ${String(error.line)}).`;
    failLoad(diagnostics, { file, line: error.line }, text);
  }
}
