import { Limiter, LimiterFullError } from '../../lib/async/limiter.js';
import { MAX_AGENT_CONF_BYTES } from '../../lib/config/agent-conf-file.js';
import type { GroupFolders } from '../../lib/groups/group-folders.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import { busyProblem } from '../daemons/daemon-failure.js';
import { AgentConfWorker } from '../groups/agent-conf-worker.js';
import { withGroup } from '../groups/group-failure.js';
import { agentConfBlocks } from '../groups/shared-file-view.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { dataResult, messageResult } from '../http/envelope.js';
import { ProblemError } from '../http/problem-error.js';
import { uploadedText } from '../http/uploaded-text.js';

const FILE = 'agent.conf';
/** Requests that write at most: each holds its body in memory. */
const MAX_WAITING = 16;

/** The agent.conf of a group (rest-api.md 6.3, agents-and-groups.md 10.3). */
export function groupsConfigurationRoutes(folders: GroupFolders, logger: Logger): OperationHandlers {
  const queue = new Limiter({ atOnce: 1, mostWaiting: MAX_WAITING - 1 });
  const worker = new AgentConfWorker();
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
      if (!(await folders.exists(group))) throw new ApiError(1710);
      const text = await checkedText(worker, request, `etc/shared/${group}/${FILE}`, logger);
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
  };
}

/** The body as it is stored. @throws ApiError 1112, 1113, 1114, 1115; ProblemError 503 */
async function checkedText(
  worker: AgentConfWorker,
  request: ApiRequest<'putGroupsGroupIdConfiguration'>,
  file: string,
  logger: Logger,
): Promise<string> {
  const text = uploadedText(request.body);
  if (text.trim() === '') throw new ApiError(1112);
  if (Buffer.byteLength(text) > MAX_AGENT_CONF_BYTES) {
    throw new ApiError(1114, { extra: `${file} would be larger than ${MAX_AGENT_CONF_BYTES} bytes` });
  }
  try {
    return await worker.run('store', text, file, request.signal);
  } catch (error) {
    if (error instanceof ApiError || error instanceof ProblemError || request.signal.aborted) throw error;
    logger.error(`An agent.conf could not be checked: ${describeError(error)}`);
    throw new ApiError(1115);
  }
}
