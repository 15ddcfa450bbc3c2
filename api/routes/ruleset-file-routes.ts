import { parseListedFile } from '../../lib/engine/listing/parse-listed-file.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandler } from '../http/api-request.js';
import { type ApiResult, listResult, rawResult } from '../http/envelope.js';
import { pageOf } from '../lists/list-parameters.js';
import { filterFiles } from '../ruleset/filter-files.js';
import type { RulesetCatalogue } from '../ruleset/ruleset-catalogue.js';
import type { RulesetResource } from '../ruleset/ruleset-resource.js';
import { xmlAsJson } from '../ruleset/xml-as-json.js';

type ListOperation = 'getRulesFiles' | 'getDecodersFiles';
type ShowOperation = 'getRulesFilesFilename' | 'getDecodersFilesFilename';

const FILE_FIELDS = ['filename', 'relative_dirname', 'status'];

/** Lists the files with rules, or decoders, and shows one of them (rest-api.md 6.5, 6.6). */
export function rulesetFileRoutes(
  kind: RulesetResource,
  catalogue: RulesetCatalogue,
): { readonly list: OperationHandler<ListOperation>; readonly show: OperationHandler<ShowOperation> } {
  return {
    list: ({ permitted, parameters }) => {
      const filter = { ...parameters, exactDirname: true };
      const page = pageOf(filterFiles(catalogue.files(kind, permitted.files), filter), parameters, {
        defaultSort: 'filename',
        sortFields: FILE_FIELDS,
        selectFields: FILE_FIELDS,
        mandatoryFields: ['filename'],
      });
      return listResult({ ...page, messages: kind.messages.files });
    },
    show: (request) => showFile(kind, catalogue, request),
  };
}

/** Of several files of the name the one in the shortest directory, or the one below `relative_dirname`. */
function showFile(
  kind: RulesetResource,
  catalogue: RulesetCatalogue,
  { parameters }: ApiRequest<ShowOperation>,
): ApiResult {
  const filename = parameters.filename;
  const below = parameters.relative_dirname;
  const [file] = catalogue
    .filesNamed(kind, filename)
    .filter(({ relative_dirname }) => below === undefined || isBelow(relative_dirname, below))
    .sort((a, b) => a.relative_dirname.length - b.relative_dirname.length);
  const messages = kind.messages.file;
  const failure = (error: ApiError) => listResult({ items: [], total: 0, failed: [{ id: filename, error }], messages });

  if (file === undefined) return failure(new ApiError(kind.errors.notFound, { extra: filename }));
  let content: string;
  try {
    content = catalogue.read(file);
  } catch {
    return failure(new ApiError(kind.errors.unreadable, { extra: `${file.relative_dirname}/${filename}` }));
  }
  if (parameters.raw) return rawResult('application/xml; charset=utf-8', content);
  const roots = parseListedFile({ file, content });
  if ('message' in roots) {
    return failure(new ApiError(kind.errors.badXml, { extra: `${roots.message} (line ${roots.line})` }));
  }
  return listResult({ items: [xmlAsJson(roots)], total: 1, messages });
}

function isBelow(directory: string, parent: string): boolean {
  const top = parent.replace(/\/+$/, '');
  return directory === top || directory.startsWith(`${top}/`);
}
