import http from 'node:http';
import https from 'node:https';

/** What is read of an answer, bytes: enough to say what is wrong. */
const MAX_ANSWER_BYTES = 16_384;
/** Characters of an answer that a message shows. */
const SHOWN = 200;
/** Statuses that say of the request itself that it is not taken. */
const REFUSALS = new Set([400, 413, 414, 415, 422]);

/** The receiver does not take this very request; others it may take. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

export type PostRequest = {
  /** https or http. */
  readonly url: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds for the whole. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/**
 * Posts JSON. Certificates are verified, redirects are not followed, an answer of 2xx is a success.
 * @throws RefusedError; Error without anything of the address but its host: the path of a webhook is its password
 */
export async function postJson({ url, body, headers = {}, timeoutMs, signal }: PostRequest): Promise<void> {
  const late = AbortSignal.timeout(timeoutMs);
  const target = new URL(url);
  const { request } = target.protocol === 'https:' ? https : http;
  const either = AbortSignal.any([signal, late]);
  try {
    const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const outgoing = request(target, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'security-manager',
          ...headers,
        },
        signal: either,
      });
      outgoing.on('error', reject);
      outgoing.on('response', (response) => {
        answerOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
      });
      outgoing.end(body);
    });
    if (status >= 200 && status < 300) return;
    const said = text === '' ? '' : `: ${text}`;
    const message = `${target.host} answered ${String(status)}${said}`;
    throw REFUSALS.has(status) ? new RefusedError(message) : new Error(message);
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) {
      throw new Error(`${target.host} did not answer within ${String(timeoutMs / 1000)} s`, { cause: error });
    }
    throw error;
  }
}

/** The beginning of an answer on one line. */
async function answerOf(response: http.IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response) {
    text += (chunk as Buffer).toString('utf8');
    if (text.length > MAX_ANSWER_BYTES) break;
  }
  response.destroy();

  return text
    .slice(0, SHOWN)
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .trim();
}
