import { parseXml } from '../../xml/parse-xml.js';
import type { XmlElement } from '../../xml/xml-element.js';
import { XmlError } from '../../xml/xml-error.js';
import type { ListingProblem, ListingSource } from './listing-source.js';

/** Elements of a file, or the problem with its line when the XML is broken; a bare `<` in a text is tolerated. */
export function parseListedFile(source: ListingSource): readonly XmlElement[] | ListingProblem {
  const { filename, relative_dirname } = source.file;
  try {
    return parseXml(source.content, `${relative_dirname}/${filename}`, { bareLessThan: true });
  } catch (error) {
    if (error instanceof XmlError) {
      return { filename, relative_dirname, line: error.line, message: error.message };
    }
    throw error;
  }
}
