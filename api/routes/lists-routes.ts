import type { Home } from '../../lib/home/home.js';
import type { Operations } from '../contract/operations.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type ApiResult, type FailedItem, listResult, rawResult } from '../http/envelope.js';
import { pageOf } from '../lists/list-parameters.js';
import type { PermittedIds } from '../rbac/permitted-ids.js';
import type { ListDirectory, ListFile } from '../ruleset/list-directory.js';
import { type ListEntry, ListFormatError, parseListText } from '../ruleset/list-text.js';
import type { RulesetUploads } from '../ruleset/ruleset-uploads.js';
import { badListFormat, listUploadRoutes } from './list-upload-routes.js';

type ListFileFilters = Pick<Operations['getLists']['parameters'], 'filename' | 'relative_dirname'>;

const FILE_FIELDS = ['relative_dirname', 'filename'];

/** CDB lists of the user, below `etc/lists` (rest-api.md 6.7). */
export function listsRoutes(lists: ListDirectory, home: Home, uploads: RulesetUploads): OperationHandlers {
  return {
    getLists: async ({ permitted, parameters }) => {
      const items: (ListFile & { items: ListEntry[] })[] = [];
      const failed: FailedItem[] = [];
      for (const file of selectedFiles(lists, permitted.files, parameters)) {
        const entries = await readEntries(lists, file);
        if (entries instanceof ApiError) failed.push({ id: pathOf(file), error: entries });
        else items.push({ items: entries, ...file });
      }
      const page = pageOf(items, parameters, {
        defaultSort: 'relative_dirname,filename',
        sortFields: FILE_FIELDS,
        selectFields: [...FILE_FIELDS, 'items'],
        mandatoryFields: FILE_FIELDS,
      });
      const messages = {
        all: 'All specified lists were returned',
        some: 'Some lists were not returned',
        none: 'No list was returned',
      };
      return listResult({ ...page, failed, messages });
    },

    getListsFiles: ({ permitted, parameters }) => {
      const page = pageOf(selectedFiles(lists, permitted.files, parameters), parameters, {
        defaultSort: 'relative_dirname,filename',
        sortFields: FILE_FIELDS,
      });
      const messages = {
        all: 'All specified paths were returned',
        some: 'Some paths were not returned',
        none: 'No path was returned',
      };
      return listResult({ ...page, messages });
    },

    getListsFilesFilename: (request) => showList(lists, request),
    ...listUploadRoutes(lists, home, uploads),
  };
}

/** Lists the caller may see that meet the filters. @throws ApiError 4000 when none may be seen */
function selectedFiles(lists: ListDirectory, permitted: PermittedIds, parameters: ListFileFilters): ListFile[] {
  const files = lists.files();
  const allowed = permitted.of(files.map(({ filename }) => filename));
  const { filename: wanted, relative_dirname: directory } = parameters;
  return files.filter(
    ({ filename, relative_dirname }) =>
      allowed.has(filename) &&
      (wanted === undefined || wanted.includes(filename)) &&
      (directory === undefined || relative_dirname === directory),
  );
}

async function showList(lists: ListDirectory, { parameters }: ApiRequest<'getListsFilesFilename'>): Promise<ApiResult> {
  const filename = parameters.filename;
  const messages = { all: 'CDB list was returned', some: '-', none: 'No list was returned' };
  const failure = (error: ApiError) => listResult({ items: [], total: 0, failed: [{ id: filename, error }], messages });
  const file = lists.files().find((candidate) => candidate.filename === filename);
  if (file === undefined) return failure(new ApiError(lists.isDirectory(filename) ? 1804 : 1802));
  if (parameters.raw) {
    const content = await readText(lists, file);
    return content instanceof ApiError ? failure(content) : rawResult('text/plain; charset=utf-8', content);
  }
  const entries = await readEntries(lists, file);
  if (entries instanceof ApiError) return failure(entries);
  // No prototype: keys come from a file.
  const item = Object.create(null) as Record<string, string>;
  for (const { key, value } of entries) item[key] = value;
  return listResult({ items: [item], total: 1, messages });
}

async function readEntries(lists: ListDirectory, file: ListFile): Promise<ListEntry[] | ApiError> {
  const content = await readText(lists, file);
  if (content instanceof ApiError) return content;
  try {
    return parseListText(content);
  } catch (error) {
    if (!(error instanceof ListFormatError)) throw error;
    return badListFormat(pathOf(file), error);
  }
}

async function readText(lists: ListDirectory, file: ListFile): Promise<string | ApiError> {
  try {
    return lists.read(file);
  } catch (error) {
    if (error instanceof RangeError) return new ApiError(1804, { extra: `${pathOf(file)} is ${error.message}` });
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return new ApiError(1802);
    if (code === 'EACCES' || code === 'EPERM') return new ApiError(1803);
    return new ApiError(1804);
  }
}

function pathOf({ relative_dirname, filename }: ListFile): string {
  return `${relative_dirname}/${filename}`;
}
