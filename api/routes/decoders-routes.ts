import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { listResult } from '../http/envelope.js';
import type { PreparedAnswers } from '../http/prepared-answers.js';
import { pageOf } from '../lists/list-parameters.js';
import { filterDecoders } from '../ruleset/list-decoders.js';
import type { RulesetCatalogue } from '../ruleset/ruleset-catalogue.js';
import { DECODERS } from '../ruleset/ruleset-resource.js';
import { rulesetFileRoutes } from './ruleset-file-routes.js';
import { type RulesetUploadRouteParts, rulesetUploadRoutes } from './ruleset-upload-routes.js';

const FIELDS = ['filename', 'relative_dirname', 'status', 'name', 'position', 'details'];
const LIST_RULES = {
  defaultSort: 'filename,position',
  sortFields: FIELDS,
  selectFields: FIELDS,
  mandatoryFields: ['filename', 'position'],
};
const MESSAGES = {
  all: 'All selected decoders were returned',
  some: 'Some decoders were not returned',
  none: 'No decoder was returned',
};

/** Decoders and decoder files as they stand in the home (rest-api.md 6.6). */
export function decodersRoutes(
  catalogue: RulesetCatalogue,
  changes: RulesetUploadRouteParts,
  prepared: PreparedAnswers,
): OperationHandlers {
  const files = rulesetFileRoutes(DECODERS, catalogue);
  const { upload, remove } = rulesetUploadRoutes(DECODERS, changes);
  return {
    getDecoders: (request) => {
      const decoders = catalogue.decoders(DECODERS, request.permitted.files);
      return prepared.of(decoders, request, () => {
        const { parameters } = request;
        const page = pageOf(filterDecoders(decoders, parameters), parameters, LIST_RULES);
        const known = new Set(decoders.map(({ name }) => name));
        const unknown = [...new Set(parameters.decoder_names)].filter((name) => !known.has(name));
        const failed = unknown.map((name) => ({ id: name, error: new ApiError(1504) }));
        return listResult({ ...page, failed, messages: MESSAGES });
      });
    },

    getDecodersParents: (request) => {
      const decoders = catalogue.decoders(DECODERS, request.permitted.files);
      return prepared.of(decoders, request, () => {
        const parents = filterDecoders(decoders, { parentsOnly: true });
        return listResult({ ...pageOf(parents, request.parameters, LIST_RULES), messages: MESSAGES });
      });
    },

    getDecodersFiles: files.list,
    getDecodersFilesFilename: files.show,
    putDecodersFilesFilename: upload,
    deleteDecodersFilesFilename: remove,
  };
}
