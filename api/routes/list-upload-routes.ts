import type { Home } from '../../lib/home/home.js';
import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { uploadedText } from '../http/uploaded-text.js';
import { type ListDirectory, LISTS_DIRECTORY } from '../ruleset/list-directory.js';
import { checkUploadedList, ListFormatError } from '../ruleset/list-text.js';
import type { RulesetUploads } from '../ruleset/ruleset-uploads.js';
import { checkFileName, checkListsDirectory, fileExists } from '../ruleset/upload-target.js';
import { outcome } from './ruleset-upload-routes.js';

/** What the reference's engine makes of a list, beside it; ours needs none, but a migrated home has them. */
const COMPILED_SUFFIX = '.cdb';

/** Stores and deletes CDB lists in `etc/lists` (rest-api.md 6.7; rules-and-alerts.md 10.4). */
export function listUploadRoutes(lists: ListDirectory, home: Home, uploads: RulesetUploads): OperationHandlers {
  const removeCompiled = (path: string) => (fileExists(home, path + COMPILED_SUFFIX) ? [path + COMPILED_SUFFIX] : []);
  return {
    putListsFilesFilename: async (request) => {
      const { parameters } = request;
      const filename = parameters.filename;
      checkFileName(filename);
      const text = uploadedText(request.body);
      const path = `${LISTS_DIRECTORY}/${filename}`;
      const messages = {
        all: 'CDB list file uploaded successfully',
        some: '-',
        none: 'Could not upload CDB list file',
      };
      return outcome(path, messages, async () => {
        if (text.trim() === '') throw new ApiError(1112);
        checkListsDirectory(home, LISTS_DIRECTORY);
        checkLines(path, text);
        const refuse = () => {
          const twin = lists
            .files()
            .find((file) => file.filename === filename && file.relative_dirname !== LISTS_DIRECTORY);
          if (twin !== undefined) throw new ApiError(1805);
          if (fileExists(home, path) && !parameters.overwrite) throw new ApiError(1905);
        };
        await uploads.storeUnchecked(path, text, refuse, request);
        await uploads.remove(removeCompiled(path), () => {}, request);
      });
    },

    deleteListsFilesFilename: async (request) => {
      const filename = request.parameters.filename;
      checkFileName(filename);
      const path = `${LISTS_DIRECTORY}/${filename}`;
      const messages = {
        all: 'CDB list file was successfully deleted',
        some: '-',
        none: 'Could not delete CDB list file',
      };
      return outcome(path, messages, async () => {
        checkListsDirectory(home, LISTS_DIRECTORY);
        const refuse = () => {
          if (!fileExists(home, path)) throw new ApiError(1906);
        };
        await uploads.remove([path, ...removeCompiled(path)], refuse, request);
      });
    },
  };
}

/** 1800 with the line. */
export function badListFormat(path: string, { line }: ListFormatError): ApiError {
  return new ApiError(1800, { values: { path }, extra: `line ${line}` });
}

/** @throws ApiError 1800 */
function checkLines(path: string, text: string): void {
  try {
    checkUploadedList(text);
  } catch (error) {
    throw error instanceof ListFormatError ? badListFormat(path, error) : error;
  }
}
