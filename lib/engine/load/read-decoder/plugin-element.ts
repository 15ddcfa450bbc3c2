import { attributeValue, type XmlElement } from '../../../xml/xml-element.js';
import { PLUGIN_NAMES } from '../decoder-definition.js';
import type { DecoderDraft } from './decoder-draft.js';
import type { DecoderReport } from './decoder-report.js';
import { readOffset } from './decoder-text.js';

/** `<plugin_decoder>`: the last name and the last `offset` count (decoding.md 4.8). */
export function readPlugin(decoder: DecoderDraft, element: XmlElement, report: DecoderReport): void {
  const plugin = PLUGIN_NAMES.find((name) => name === element.content);
  if (plugin === undefined) {
    report.fail(element, `(2110): Invalid decoder argument for plugin_decoder: '${element.content}'.`);
  }
  decoder.plugin = plugin;
  const word = attributeValue(element, 'offset');
  if (word === undefined) return;
  decoder.pluginOffset = readOffset(word);
  decoder.badPluginOffset = decoder.pluginOffset === undefined;
}
