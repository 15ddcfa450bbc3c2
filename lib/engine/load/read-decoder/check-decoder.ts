import type { XmlElement } from '../../../xml/xml-element.js';
import type { DecoderDefinition, DecoderOffset, PatternDefinition } from '../decoder-definition.js';
import type { DecoderDraft, PatternDraft } from './decoder-draft.js';
import type { DecoderReport } from './decoder-report.js';

/**
 * The checks of decoding.md 4.3, in their order.
 * @throws RulesetError
 */
export function checkDecoder(draft: DecoderDraft, element: XmlElement, report: DecoderReport): DecoderDefinition {
  const { parent, order, fts, plugin } = draft;
  const prematch = finishPattern(draft.prematch);
  const programName = finishPattern(draft.programName);
  const regex = finishPattern(draft.regex);
  if (prematch === undefined && parent === undefined && programName === undefined) {
    report.failDecoder(`(2108): No 'prematch' found in decoder: '${report.name}'.`);
  }
  if ((regex === undefined) !== (order.length === 0) || (regex === undefined && fts !== undefined)) {
    report.failDecoder();
  }
  const regexOffset = checkRegexOffset(draft, regex, prematch, report);
  checkPrematchOffset(draft, prematch, report);
  const pluginOffset = checkPluginOffset(draft, prematch, report);
  if (plugin !== undefined && (regex !== undefined || order.length > 0)) {
    report.fail(element, `(2111): Additional data to plugin decoder: '${report.name}'.`);
  }
  return {
    name: draft.name,
    place: report.place(element),
    parent,
    programName,
    prematch,
    regex: regex === undefined ? undefined : { ...regex, offset: regexOffset },
    order,
    fts,
    ftscomment: draft.ftscomment,
    category: draft.category,
    useOwnName: draft.useOwnName,
    accumulate: draft.accumulate,
    plugin,
    pluginOffset,
    discardNulls: draft.discardNulls,
    csvArrays: draft.csvArrays,
  };
}

function finishPattern(pattern: PatternDraft | undefined): PatternDefinition | undefined {
  return pattern === undefined || pattern.dropped ? undefined : pattern;
}

function checkRegexOffset(
  { parent }: DecoderDraft,
  regex: PatternDefinition | undefined,
  prematch: PatternDefinition | undefined,
  report: DecoderReport,
): DecoderOffset | undefined {
  const offset = regex?.offset;
  if (parent === undefined) {
    if (offset === 'after_prematch') return 'after_parent';
    if (offset !== undefined) report.failOffset(offset);
  } else if (offset === 'after_prematch' && prematch === undefined) {
    report.failOffset(offset);
  }
  return offset;
}

function checkPrematchOffset(
  { parent }: DecoderDraft,
  prematch: PatternDefinition | undefined,
  report: DecoderReport,
): void {
  const offset = prematch?.offset;
  if (offset === undefined) return;
  if (offset !== 'after_parent') report.failDecoder();
  if (parent === undefined) report.failOffset(offset);
}

function checkPluginOffset(
  { parent, pluginOffset: offset, badPluginOffset }: DecoderDraft,
  prematch: PatternDefinition | undefined,
  report: DecoderReport,
): DecoderOffset | undefined {
  if (badPluginOffset) report.failDecoder();
  if (offset === 'after_parent' && parent === undefined) report.failOffset(offset);
  if (offset !== 'after_prematch') return offset;
  if (prematch === undefined) report.failOffset(offset);
  // For a root there is no text after a child's prematch: what its own prematch left is meant, as for `regex`.
  return parent === undefined ? 'after_parent' : offset;
}
