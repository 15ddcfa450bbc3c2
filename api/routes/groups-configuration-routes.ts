import { Limiter, LimiterFullError } from '../../lib/async/limiter.js';
import type { GroupFolders } from '../../lib/groups/group-folders.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import { busyProblem } from '../daemons/daemon-failure.js';
import type { AgentConfWorkName, AgentConfWorks } from '../groups/agent-conf-work.js';
import { AgentConfWorker } from '../groups/agent-conf-worker.js';
import { withGroup } from '../groups/group-failure.js';
import type { AgentConfVerdict } from '../groups/judge-agent-conf.js';
import { agentConfBlocks } from '../groups/shared-file-view.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type ApiResult, dataResult, messageResult } from '../http/envelope.js';
import { ProblemError } from '../http/problem-error.js';
import { uploadedText } from '../http/uploaded-text.js';

const FILE = 'agent.conf';
/** Requests that write at most: each holds its body in memory. */
const MAX_WAITING = 16;

const VALID = 'Agent configuration is valid';
const INVALID = 'Agent configuration is not valid';

/** The agent.conf of a group (rest-api.md 6.3, agents-and-groups.md 10.3). */
export function groupsConfigurationRoutes(folders: GroupFolders, logger: Logger): OperationHandlers {
  const queue = new Limiter({ atOnce: 1, mostWaiting: MAX_WAITING - 1 });
  const worker = new AgentConfWorker();
  const checked = async <K extends 'store' | 'check'>(work: K, request: UploadRequest): Promise<AgentConfWorks[K]> => {
    const group = request.parameters.group_id;
    if (!(await folders.exists(group))) throw new ApiError(1710);
    return checkedText(worker, work, request, `etc/shared/${group}/${FILE}`, logger);
  };
  return {
    getGroupsGroupIdConfiguration: async (request) => {
      const { parameters } = request;
      const group = parameters.group_id;
      const content = await withGroup(group, () => folders.read(group, FILE));
      const blocks = await agentConfBlocks(worker, content, FILE, request.signal);
      const { offset, limit } = parameters;
      return dataResult({ total_affected_items: blocks.length, affected_items: blocks.slice(offset, offset + limit) });
    },

    putGroupsGroupIdConfiguration: async (request) => {
      const group = request.parameters.group_id;
      const text = await checked('store', request);
      try {
        await queue.run(async () => {
          // Its client was told that it took too long: what comes now would be a surprise.
          request.signal.throwIfAborted();
          await withGroup(group, () => folders.writeConfiguration(group, text));
        });
      } catch (error) {
        if (error instanceof LimiterFullError) throw busyProblem('svc-apid');
        throw error;
      }
      return messageResult('Agent configuration was successfully updated');
    },

    putGroupsGroupIdConfigurationValidation: async (request) => shownVerdict(await checked('check', request)),
  };
}

type UploadRequest = ApiRequest<'putGroupsGroupIdConfiguration' | 'putGroupsGroupIdConfigurationValidation'>;

/** What the checks say of the body. @throws ApiError 1112, 1113 and 1114 of what is not stored, 1115; ProblemError 503 */
async function checkedText<K extends AgentConfWorkName>(
  worker: AgentConfWorker,
  work: K,
  request: UploadRequest,
  file: string,
  logger: Logger,
): Promise<AgentConfWorks[K]> {
  try {
    return await worker.run(work, uploadedText(request.body), file, request.signal);
  } catch (error) {
    if (error instanceof ApiError || error instanceof ProblemError || request.signal.aborted) throw error;
    logger.error(`An agent.conf could not be checked: ${describeError(error)}`);
    throw new ApiError(1115);
  }
}

function shownVerdict({ refusal, warnings, content }: AgentConfVerdict): ApiResult {
  if (refusal === undefined) return dataResult({ status: 'OK', problems: [], warnings, content }, VALID);
  const { code, remark = { line: 0, message: new ApiError(code).message } } = refusal;
  return dataResult({ status: 'KO', problems: [{ code, ...remark }], warnings }, INVALID);
}
