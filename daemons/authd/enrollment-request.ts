import { createHash, timingSafeEqual } from 'node:crypto';
import { isAgentName } from '../../lib/agentlink/agent-identity.js';
import { AgentAddress } from '../../lib/network/agent-address.js';
import { COMPATIBILITY_VERSION } from '../../lib/product/version.js';
import { groupListProblem, groupNames } from './group-list.js';

/** What a new agent asks for, checked as far as the text alone allows. */
export type EnrollmentRequest = {
  readonly name: string;
  /** Without repeats, in the order given; undefined when the request names none. */
  readonly groups: readonly string[] | undefined;
  /** `src` stands for the address the request comes from; undefined when not given. */
  readonly ip: AgentAddress | 'src' | undefined;
  /** SHA-1 of the key that the agent holds already, as sent. */
  readonly keyHash: string | undefined;
};

/** What of the settings decides about the text of a request. */
export type RequestRules = {
  /** Password that each request must begin with. */
  readonly password: string | undefined;
  /** Whether an agent may be newer than this manager. */
  readonly allowHigherVersions: boolean;
};

/** Why a request is refused, for the caller and for the log (agents-and-groups.md 2.3). */
export class EnrollmentError extends Error {
  override readonly name = 'EnrollmentError';

  /**
   * @param message what the agent is told, without `ERROR: ` and without the end
   * @param logLine what the log says
   */
  constructor(
    message: string,
    readonly logLine: string,
  ) {
    super(message);
  }

  /** The whole reply; it has no newline. */
  get reply(): string {
    return `ERROR: ${this.message}. Unable to add agent`;
  }
}

const PASSWORD_MARK = 'OSSEC PASS: ';
const NAME_MARK = "OSSEC A:'";
/** Longest name that is read back from the key file as it is (agents-and-groups.md 1.2). */
const MAX_NAME = 127;

/**
 * Reads one request line (agents-and-groups.md 2.3, steps 1 to 10).
 * @param line without its last newline, one character a byte
 * @param peer address of the sender, for log lines
 * @throws EnrollmentError
 */
export function parseEnrollmentRequest(line: string, rules: RequestRules, peer: string): EnrollmentRequest {
  const reader = new RequestReader(afterPassword(line, rules.password, peer));
  if (!reader.skip(NAME_MARK)) throw invalidRequest(peer);
  const name = reader.upToQuote();
  if (name === undefined) throw invalidRequest(peer);
  if (!isAgentName(name) || name.length > MAX_NAME) {
    throw new EnrollmentError(`Invalid agent name: ${name}`, `Invalid agent name: ${name} from ${peer}`);
  }

  const version = reader.part(" V:'", 'Unterminated version field', peer);
  if (version !== undefined && !rules.allowHigherVersions && isNewer(version)) {
    throw new EnrollmentError(
      'Agent version must be lower or equal to manager version',
      `Incompatible version for new agent from: ${peer}`,
    );
  }
  const groups = reader.part(" G:'", 'Unterminated group field', peer);
  const problem = groups === undefined ? undefined : groupListProblem(groups);
  if (problem !== undefined) {
    throw new EnrollmentError(`Invalid group name: ${problem}`, `Invalid group name: ${problem}`);
  }
  const ip = reader.part(" IP:'", 'Unterminated IP field', peer);
  const address = ip?.startsWith('src') === true ? 'src' : ip === undefined ? undefined : AgentAddress.parse(ip);
  if (ip !== undefined && address === undefined) {
    throw new EnrollmentError(`Invalid IP: ${ip}`, `Invalid IP: '${ip}' for new agent from: ${peer}`);
  }
  const keyHash = reader.part(" K:'", 'Unterminated key field', peer);
  return {
    name,
    groups: groups === undefined ? undefined : groupNames(groups),
    ip: address,
    keyHash,
  };
}

/**
 * The request after its password. An OSSEC agent sends the newline of its password file along (agent-transcript.md 1):
 * it is let through, so that such agents can enrol.
 */
function afterPassword(line: string, password: string | undefined, peer: string): string {
  if (password === undefined) return line;
  const rest = line.startsWith(PASSWORD_MARK) ? line.slice(PASSWORD_MARK.length) : '';
  const given = rest.slice(0, password.length);
  const end = rest.startsWith('\n', password.length) ? password.length + 1 : password.length;
  // All three are looked at whatever comes out, so that time tells nothing of the password.
  const right = sameText(given, password);
  if (!right || rest[end] !== ' ' || rest.length <= end + 1) {
    throw new EnrollmentError('Invalid password', `Invalid password provided by ${peer}. Closing connection.`);
  }
  return rest.slice(end + 1);
}

/** Compares in a time that does not depend on where the texts differ. */
export function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text, 'latin1').digest();
  return timingSafeEqual(digest(a), digest(b));
}

function invalidRequest(peer: string): EnrollmentError {
  return new EnrollmentError('Invalid request for new agent', `Invalid request for new agent from: ${peer}`);
}

/** Whether major and minor of the agent are above those of this manager; the patch number does not count. */
function isNewer(version: string): boolean {
  const [major = 0, minor = 0] = majorMinor(version);
  const [ownMajor = 0, ownMinor = 0] = majorMinor(COMPATIBILITY_VERSION);
  return major > ownMajor || (major === ownMajor && minor > ownMinor);
}

/** `v4.14.7` as [4, 14]; what is no number counts as 0, as in the reference. */
function majorMinor(version: string): number[] {
  const parts = version.replace(/^v/, '').split('.');
  return parts.slice(0, 2).map((part) => Number(/^\d{1,9}/.exec(part)?.[0] ?? 0));
}

/** Walks over the parts of a request. */
class RequestReader {
  #at = 0;

  constructor(private readonly text: string) {}

  skip(mark: string): boolean {
    if (!this.text.startsWith(mark, this.#at)) return false;
    this.#at += mark.length;
    return true;
  }

  /** Text up to the next quote, which is passed; undefined when there is none. */
  upToQuote(): string | undefined {
    const end = this.text.indexOf("'", this.#at);
    if (end < 0) return undefined;
    const part = this.text.slice(this.#at, end);
    this.#at = end + 1;
    return part;
  }

  /** An optional part; undefined when the text does not go on with it. @throws EnrollmentError when it has no end */
  part(mark: string, unterminated: string, peer: string): string | undefined {
    if (!this.skip(mark)) return undefined;
    const value = this.upToQuote();
    if (value === undefined) throw new EnrollmentError(unterminated, `${unterminated} in the request from: ${peer}`);
    return value;
  }
}
