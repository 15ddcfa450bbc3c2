import { hash } from 'node:crypto';
import { PUSH_END_MESSAGE, pushStartMessage } from '../../../lib/agentlink/control-text.js';
import { pushPieces } from '../../../lib/agentlink/file-push.js';
import { MERGED_FILE } from '../../../lib/agentlink/merged-file.js';

/** The payloads that push a file to an agent, in their order; each is sealed by itself. */
export function* pushMessages(content: Buffer, name: string = MERGED_FILE): Generator<Buffer> {
  yield Buffer.from(pushStartMessage(hash('md5', content, 'hex'), name));
  yield* pushPieces(content);
  yield Buffer.from(PUSH_END_MESSAGE);
}
