import type { XmlElement } from '../../../xml/xml-element.js';
import type { Diagnostics } from '../../event.js';
import type { DecoderDefinition } from '../decoder-definition.js';
import { failLoad } from '../fail-load.js';
import { checkDecoder } from './check-decoder.js';
import { newDecoder } from './decoder-draft.js';
import { decoderElement } from './decoder-elements.js';
import { DecoderReport } from './decoder-report.js';

export type DecoderReaderOptions = {
  readonly file: string;
  readonly diagnostics: Diagnostics;
  /** `analysisd.decoder_order_size`, 32 to 1024. */
  readonly orderSize: number;
};

/**
 * Reads and checks one `<decoder>` element by itself (decoding.md 4.2, 4.3); patterns are not compiled yet.
 *
 * @throws RulesetError for everything that decoding.md 4.2 and 4.3 call fatal, after all its texts went to the diagnostics
 */
export function readDecoder(element: XmlElement, options: DecoderReaderOptions): DecoderDefinition {
  const { file, diagnostics, orderSize } = options;
  const name = readName(element);
  if (name === undefined) {
    const text = "(1230): Invalid element in the configuration: 'decoder'.";
    failLoad(diagnostics, { file, line: element.line }, text);
  }
  const report: DecoderReport = new DecoderReport(element, name, file, orderSize, diagnostics);
  if (element.children.length === 0) {
    report.fail(element, '(1231): Invalid NULL element in the configuration.');
  }
  const draft = newDecoder(name);
  for (const child of element.children) {
    const read = decoderElement(child.name);
    if (read === undefined) report.fail(child, `Invalid element '${child.name}' for decoder 'decoder'`);
    read(draft, child, report);
  }
  return checkDecoder(draft, element, report);
}

/** The `name`, which comes first; beside it only a `status` may be written. */
function readName({ attributes: [first, second, third] }: XmlElement): string | undefined {
  const valid =
    first?.name.toLowerCase() === 'name' &&
    (second === undefined || second.name.toLowerCase() === 'status') &&
    third === undefined;
  return valid ? first.value : undefined;
}
