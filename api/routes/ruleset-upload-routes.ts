import { isAbsolute, relative } from 'node:path';
import { ConfigError } from '../../lib/config/config-error.js';
import { parseListedFile } from '../../lib/engine/listing/parse-listed-file.js';
import type { Home } from '../../lib/home/home.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandler } from '../http/api-request.js';
import { type ApiResult, type ListMessages, listResult } from '../http/envelope.js';
import { uploadedText } from '../http/uploaded-text.js';
import type { ManagerConfiguration } from '../manager/manager-configuration.js';
import { escapeFormulas } from '../ruleset/escape-formulas.js';
import type { RulesetResource } from '../ruleset/ruleset-resource.js';
import type { RulesetUploads } from '../ruleset/ruleset-uploads.js';
import { checkDirectory, checkFileName, fileExists, plainDirectory } from '../ruleset/upload-target.js';

type UploadOperation = 'putRulesFilesFilename' | 'putDecodersFilesFilename';
type RemovalOperation = 'deleteRulesFilesFilename' | 'deleteDecodersFilesFilename';

export type RulesetUploadRouteParts = {
  readonly home: Home;
  readonly configuration: ManagerConfiguration;
  readonly uploads: RulesetUploads;
};

/** Stores and deletes files with rules, or decoders (rest-api.md 6.5, 6.6; rules-and-alerts.md 10.3). */
export function rulesetUploadRoutes(
  kind: RulesetResource,
  parts: RulesetUploadRouteParts,
): { readonly upload: OperationHandler<UploadOperation>; readonly remove: OperationHandler<RemovalOperation> } {
  const { home, uploads } = parts;
  return {
    upload: async (request) => {
      const { parameters } = request;
      const filename = parameters.filename;
      checkFileName(filename);
      const text = uploadedText(request.body);
      const { directory, path } = targetOf(kind, request);
      return outcome(path, kind.messages.upload, async () => {
        checkDirectory(home, directory, directoryRules(kind, parts));
        const content = checkedText(directory, filename, text);
        const refuse = () => {
          if (fileExists(home, path) && !parameters.overwrite) throw new ApiError(1905);
        };
        await uploads.store(path, content, refuse, request);
      });
    },

    remove: async (request) => {
      checkFileName(request.parameters.filename);
      const { directory, path } = targetOf(kind, request);
      return outcome(path, kind.messages.remove, async () => {
        checkDirectory(home, directory, directoryRules(kind, parts));
        const refuse = () => {
          if (!fileExists(home, path)) throw new ApiError(1906);
        };
        await uploads.remove([path], refuse, request);
      });
    },
  };
}

/** One item, or one failed item for a refusal that concerns the file; what ends the request goes on. */
export async function outcome(path: string, messages: ListMessages, work: () => Promise<void>): Promise<ApiResult> {
  try {
    await work();
    return listResult({ items: [path], total: 1, messages });
  } catch (error) {
    // Of the codes with status 500 (a daemon that is not there) the request as a whole dies.
    if (!(error instanceof ApiError) || (error.status === 500 && error.code !== 1016)) throw error;
    return listResult({ items: [], total: 0, failed: [{ id: path, error }], messages });
  }
}

function targetOf(
  kind: RulesetResource,
  { parameters }: ApiRequest<UploadOperation | RemovalOperation>,
): { directory: string; path: string } {
  const directory = plainDirectory(parameters.relative_dirname ?? `etc/${kind.name}`);
  return { directory, path: `${directory}/${parameters.filename}` };
}

function directoryRules(kind: RulesetResource, { home, configuration }: RulesetUploadRouteParts) {
  let ruleset;
  try {
    ruleset = configuration.ruleset();
  } catch (error) {
    if (error instanceof ConfigError) throw new ApiError(kind.errors.configuration, { extra: error.message });
    throw error;
  }
  const directories = kind.name === 'rules' ? ruleset.rule_dir : ruleset.decoder_dir;
  const configured = directories.map(({ path }) => plainDirectory(isAbsolute(path) ? relative(home.root, path) : path));
  return { configured, shipped: `ruleset/${kind.name}`, errors: kind.errors.directory };
}

/** The text as it is stored. @throws ApiError 1112 or 1113 */
function checkedText(directory: string, filename: string, text: string): string {
  if (text.trim() === '') throw new ApiError(1112);
  const file = { filename, relative_dirname: directory, status: 'enabled' as const };
  const roots = parseListedFile({ file, content: text });
  if ('message' in roots) {
    throw new ApiError(1113, { extra: `${roots.message} (${directory}/${filename}:${roots.line})` });
  }
  return escapeFormulas(text, roots);
}
