import { Details, type DetailValue } from '../../lib/engine/listing/detail-value.js';
import { fileVariables, resolveVariable } from '../../lib/engine/listing/file-variables.js';
import type { ListedFile, Listing, ListingSource } from '../../lib/engine/listing/listing-source.js';
import { parseListedFile } from '../../lib/engine/listing/parse-listed-file.js';
import { type FileFilter, filterFiles } from './filter-files.js';

/** A decoder as `GET /decoders` shows it (rest-api.md 6.6); members are in the order shown. */
export type DecoderItem = {
  readonly filename: ListedFile['filename'];
  readonly relative_dirname: ListedFile['relative_dirname'];
  readonly status: ListedFile['status'];
  readonly name: string;
  /** Index of the decoder in its file. */
  readonly position: number;
  /** Has no prototype: keys come from files. */
  readonly details: Readonly<Record<string, DetailValue>>;
};

/** Elements that are shown as `{pattern, attributes}`. */
const PATTERN_ELEMENTS = new Set(['program_name', 'prematch', 'regex']);

/** Decoders of one file as they are written, in their order (rest-api.md 6.6). Broken XML is a problem with its line. */
export function listDecoders(source: ListingSource): Listing<DecoderItem> {
  const { filename, relative_dirname, status } = source.file;
  const roots = parseListedFile(source);
  if ('message' in roots) {
    return { items: [], problems: [roots] };
  }
  const variables = fileVariables(roots);
  const items: DecoderItem[] = [];
  for (const decoder of roots) {
    if (decoder.name.toLowerCase() !== 'decoder') {
      continue;
    }
    const details = new Details();
    let name = '';
    for (const attribute of decoder.attributes) {
      if (attribute.name.toLowerCase() === 'name') {
        name = attribute.value;
      } else {
        details.setText(attribute.name.toLowerCase(), attribute.value);
      }
    }
    for (const child of decoder.children) {
      const key = child.name.toLowerCase();
      if (PATTERN_ELEMENTS.has(key)) {
        details.addPattern(key, resolveVariable(child.content, variables), child.attributes);
      } else {
        details.addText(key, child.content);
      }
    }
    items.push({ filename, relative_dirname, status, name, position: items.length, details: details.values });
  }
  return { items, problems: [] };
}

/** Filters of `GET /decoders`; what is absent does not filter. */
export type DecoderFilter = FileFilter & {
  readonly decoder_names?: readonly string[];
  /** Leaves out decoders that have a parent (`GET /decoders/parents`). */
  readonly parentsOnly?: boolean;
};

/** Decoders that meet every condition of the filter, in the order given. */
export function filterDecoders(decoders: readonly DecoderItem[], filter: DecoderFilter): DecoderItem[] {
  const names = filter.decoder_names === undefined ? undefined : new Set(filter.decoder_names);
  return filterFiles(decoders, filter).filter(
    (decoder) =>
      (names === undefined || names.has(decoder.name)) &&
      (filter.parentsOnly !== true || decoder.details['parent'] === undefined),
  );
}
