import { checkAgentConf } from '../../../lib/config/agent-conf.js';
import { decodeConfiguration } from '../../../lib/config/configuration-file.js';

/** Why an agent.conf is not distributed; undefined when it is. @param file name in the text */
export function confProblem(content: Uint8Array, file: string): string | undefined {
  const { text } = decodeConfiguration(Buffer.from(content.buffer, content.byteOffset, content.byteLength));
  const failure = checkAgentConf(text, file);
  return failure === undefined
    ? undefined
    : `${failure.error.message}: ${failure.check} remote configuration is corrupted.`;
}
