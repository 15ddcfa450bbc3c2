import type { GroupFolders } from '../../lib/groups/group-folders.js';
import { AgentConfWorker } from '../groups/agent-conf-worker.js';
import { withGroup } from '../groups/group-failure.js';
import { sharedContentType, sharedFileView } from '../groups/shared-file-view.js';
import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { dataResult, listResult, rawResult } from '../http/envelope.js';
import { pageOf } from '../lists/list-parameters.js';

const FIELDS = ['filename', 'hash'];

/** Shared files of a group (rest-api.md 6.3). The folders are looked at, so no daemon need run. */
export function groupsFilesRoutes(folders: GroupFolders): OperationHandlers {
  const worker = new AgentConfWorker();
  return {
    getGroupsGroupIdFiles: async (request) => {
      const { parameters } = request;
      const group = parameters.group_id;
      const messages = {
        all: 'All selected groups files were returned',
        some: 'Some groups files were not returned',
        none: 'No groups files were returned',
      };
      try {
        const files = await withGroup(group, () => folders.files(group, parameters.hash ?? 'md5'));
        const page = pageOf(files, parameters, {
          defaultSort: 'filename',
          sortFields: FIELDS,
          selectFields: FIELDS,
          mandatoryFields: ['filename'],
        });
        return listResult({ ...page, messages });
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 1710) throw error;
        return listResult({ items: [], total: 0, failed: [{ id: group, error }], messages });
      }
    },

    getGroupsGroupIdFilesFileName: async (request) => {
      const { parameters } = request;
      const group = parameters.group_id;
      const name = parameters.file_name;
      const content = await withGroup(group, () => folders.read(group, name));
      if (parameters.raw) return rawResult(sharedContentType(name), content);
      const [type] = parameters.type ?? [];
      return dataResult(await sharedFileView(name, content, { worker, signal: request.signal }, type));
    },
  };
}
