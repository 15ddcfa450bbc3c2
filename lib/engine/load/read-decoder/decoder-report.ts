import type { XmlElement } from '../../../xml/xml-element.js';
import type { Diagnostics, SourcePlace } from '../../event.js';
import type { DecoderOffset } from '../decoder-definition.js';
import { failLoad } from '../fail-load.js';

/** Says what is wrong with one decoder while it is read. */
export class DecoderReport {
  /** Name of the decoder. */
  readonly name: string;
  /** `analysisd.decoder_order_size`. */
  readonly orderSize: number;
  readonly #decoder: XmlElement;
  readonly #file: string;
  readonly #diagnostics: Diagnostics;

  constructor(decoder: XmlElement, name: string, file: string, orderSize: number, diagnostics: Diagnostics) {
    this.name = name;
    this.orderSize = orderSize;
    this.#decoder = decoder;
    this.#file = file;
    this.#diagnostics = diagnostics;
  }

  place(element: XmlElement = this.#decoder): SourcePlace {
    return { file: this.#file, line: element.line };
  }

  warn(element: XmlElement, text: string): void {
    this.#diagnostics.warn(text, this.place(element));
  }

  error(element: XmlElement, text: string): void {
    this.#diagnostics.error(text, this.place(element));
  }

  /** Ends the load. @throws RulesetError always, with the last text */
  fail(element: XmlElement, ...texts: readonly [string, ...string[]]): never {
    failLoad(this.#diagnostics, this.place(element), ...texts);
  }

  /** Ends the load for something that no single element shows. @throws RulesetError always, with (2107) */
  failDecoder(...before: readonly string[]): never {
    const [first, ...rest] = [...before, this.decoderError];
    this.fail(this.#decoder, first ?? this.decoderError, ...rest);
  }

  /** @throws RulesetError always */
  failOffset(offset: DecoderOffset): never {
    this.failDecoder(`(2120): Invalid offset value: '${offset}'`);
  }

  get decoderError(): string {
    return `(2107): Decoder configuration error: '${this.name}'.`;
  }
}
