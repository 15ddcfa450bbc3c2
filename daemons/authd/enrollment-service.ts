import type { GroupFolders } from '../../lib/groups/group-folders.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import { AgentAddress } from '../../lib/network/agent-address.js';
import { AdmissionError, type RefusalCode } from './admission-error.js';
import type { AuthdSettings } from './authd-settings.js';
import type { Enroller } from './enroller.js';
import type { EnrollmentLimits } from './enrollment-limits.js';
import { EnrollmentError, parseEnrollmentRequest } from './enrollment-request.js';
import type { Reply } from './enrollment-server.js';
import { missingGroup } from './group-list.js';

/** Answers the requests of agents (agents-and-groups.md 2.3). */
export class EnrollmentService {
  constructor(
    private readonly enroller: Enroller,
    private readonly settings: () => AuthdSettings,
    private readonly groups: GroupFolders,
    private readonly limits: EnrollmentLimits,
    private readonly logger: Logger,
  ) {}

  /** @param line one character a byte @param peer address of the agent */
  async answer(line: string, peer: string): Promise<Reply> {
    // Before anything of the request is looked at: not even the password can be tried.
    const refusal = this.limits.refusal(peer);
    if (refusal !== undefined) return { text: new EnrollmentError(refusal, '').reply };
    try {
      return await this.#enrol(line, peer);
    } catch (error) {
      if (!(error instanceof EnrollmentError)) throw error;
      this.logger.warn(error.logLine);
      return { text: error.reply };
    }
  }

  async #enrol(line: string, peer: string): Promise<Reply> {
    const { auth, password } = this.settings();
    const rules = {
      password: password.kind === 'none' ? undefined : password.text,
      allowHigherVersions: auth.agents.allow_higher_versions,
    };
    const request = parseEnrollmentRequest(line, rules, peer);
    const { name, groups, keyHash } = request;
    const log = (text: string): void => {
      if (this.enroller.keepsComing(name)) this.logger.debug(text);
      else this.logger.info(text);
    };
    log(`Received request for a new agent (${name}) from: ${peer}`);
    const missing = groups === undefined ? undefined : await missingGroup(this.groups, groups);
    if (missing !== undefined) throw new EnrollmentError(missing, missing);
    const asked = request.ip ?? (auth.use_source_ip ? 'src' : AgentAddress.any);
    const address = asked === 'src' ? AgentAddress.parse(peer) : asked;
    if (address === undefined) throw new EnrollmentError(`Invalid IP: ${peer}`, `Invalid IP: '${peer}'`);
    const candidate = { name, address, groups, keyHash, source: peer, force: auth.force };
    try {
      const agent = await this.enroller.add(candidate);
      // One agent that cannot store its key must not use up what its whole site may get.
      if (!this.enroller.keptId(agent.id)) this.limits.given(peer);
      log(`Agent key generated for '${name}' (requested by ${peer})`);
      return {
        text: `OSSEC K:'${agent.id} ${agent.name} ${agent.ip} ${agent.rawKey}'`,
        undelivered: () => {
          this.logger.error(`Agent key not saved for ${name}`);
          this.enroller.discard(agent.id).catch((error: unknown) => {
            this.logger.error(`Agent '${agent.id}' cannot be taken back: ${describeError(error)}`);
          });
        },
      };
    } catch (error) {
      if (!(error instanceof AdmissionError)) throw error;
      throw new EnrollmentError(REFUSALS[error.code](name, address.text, error.message), error.message);
    }
  }
}

/** What agents are told. */
const REFUSALS: Readonly<Record<RefusalCode, (name: string, ip: string, message: string) => string>> = {
  duplicate_id: (name) => `Internal manager error adding agent: ${name}`,
  duplicate_ip: (_name, ip) => `Duplicate IP: ${ip}`,
  duplicate_name: (name) => `Duplicate agent name: ${name}`,
  manager_name: (name) => `Invalid agent name: ${name}`,
  bad_id: (name) => `Internal manager error adding agent: ${name}`,
  bad_name: (name) => `Invalid agent name: ${name}`,
  bad_key: (name) => `Internal manager error adding agent: ${name}`,
  unknown_group: (_name, _ip, message) => message,
  // As the reference words it, misspelt: log rules of users know the text.
  cluster_unavailable: () => 'Cannot comunicate with master',
  write_failed: (name) => `Internal manager error adding agent: ${name}`,
};
