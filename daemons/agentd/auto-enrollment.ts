import { hostname } from 'node:os';
import { requestAgentKey } from '../../lib/agents/enrollment-client.js';
import { defaultAgentName, enrollmentRequest, enrollmentTls } from '../../lib/agents/enrollment-settings.js';
import { storeOwnKey } from '../../lib/agents/own-key.js';
import type { Home } from '../../lib/home/home.js';
import type { HomeRecord } from '../../lib/home/home-record.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { ClientConfig } from './agentd-settings.js';

/** Enrolment by itself, as `<enrollment>` says (agents-and-groups.md 2.7). */
export class AutoEnrollment {
  readonly #home: Home;
  readonly #record: HomeRecord;
  readonly #config: ClientConfig['enrollment'];
  readonly #logger: Logger;
  readonly #signal: AbortSignal;

  constructor(home: Home, record: HomeRecord, config: ClientConfig['enrollment'], logger: Logger, signal: AbortSignal) {
    this.#home = home;
    this.#record = record;
    this.#config = config;
    this.#logger = logger;
    this.#signal = signal;
  }

  /** Asks one manager for a key and stores it. @returns whether there is a new one; what was wrong is logged */
  async enrol(host: string): Promise<boolean> {
    const config = this.#config;
    try {
      const tls = enrollmentTls(this.#home, {
        ca: config.server_ca_path,
        certificate: config.agent_certificate_path,
        key: config.agent_key_path,
        ciphers: config.ssl_cipher,
        anyVersion: config.auto_method,
      });
      const name = config.agent_name ?? defaultAgentName(hostname());
      if (name === 'localhost') {
        throw new Error("This host is called 'localhost', which is no name for an agent: set enrollment/agent_name");
      }
      const request = await enrollmentRequest(this.#home, {
        name,
        groups: config.groups,
        address: config.agent_address,
        useSourceIp: config.use_source_ip,
        passwordFile: config.authorization_pass_path,
      });
      this.#logger.info(`Requesting a key from server: ${host}`);
      this.#logger.info(`Using agent name as: ${request.name}`);
      this.#logger.info('Waiting for server reply');
      const key = await requestAgentKey({ host, port: config.port, tls }, request, this.#signal);
      storeOwnKey(this.#home, this.#record, key);
      this.#logger.info('Valid key received');
      return true;
    } catch (error) {
      if (!this.#signal.aborted) this.#logger.error(describeError(error));
      return false;
    }
  }
}
