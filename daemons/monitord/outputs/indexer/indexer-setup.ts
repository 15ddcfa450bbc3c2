import { isObject } from '../../../../lib/json/is-object.js';
import type { Logger } from '../../../../lib/log/logger.js';
import { indexTemplate, TEMPLATE_NAME } from './index-template.js';
import { errorOf } from './indexer-answers.js';
import type { IndexerAnswer } from './indexer-client.js';
import type { IndexerConnection } from './indexer-connection.js';

export type IndexerSetupParts = {
  /** Asks whichever host is available. @throws Error when none is, or there is no answer */
  readonly ask: IndexerConnection['ask'];
  /** Whether the server is to look up where addresses are. */
  readonly geoip: boolean;
  readonly timeoutMs: number;
  readonly logger: Logger;
};

const PIPELINE = 'security-manager-geoip';
/** Members that hold an address, in this order: the last that is found wins (indexer.md 2.3). */
const ADDRESSES = [
  'data.srcip',
  'data.win.eventdata.ipAddress',
  'data.aws.sourceIPAddress',
  'data.aws.client_ip',
  'data.aws.service.action.networkConnectionAction.remoteIpDetails.ipAddressV4',
  'data.aws.httpRequest.clientIp',
  'data.ms-graph.ipAddress',
  'data.ms-graph.actor.ipAddress',
  'data.gcp.jsonPayload.sourceIP',
  'data.office365.ClientIP',
];
const NO_GEOIP = 'No processor type exists with name [geoip]';

/** What a search engine needs before the first alert: the template, and the pipeline that looks up addresses. */
export class IndexerSetup {
  readonly #parts: IndexerSetupParts;
  #isReady = false;
  #pipeline = '';

  constructor(parts: IndexerSetupParts) {
    this.#parts = parts;
  }

  /** Of bulk requests: names the pipeline, where there is one. */
  get query(): string {
    return this.#pipeline === '' ? '' : `?pipeline=${this.#pipeline}`;
  }

  /** Once; nothing is asked when it is done. @throws Error: it is to be tried again */
  async prepare(signal: AbortSignal): Promise<void> {
    if (this.#isReady) return;
    await this.#putTemplate(signal);
    if (this.#parts.geoip) await this.#putPipeline(signal);
    this.#isReady = true;
  }

  /** Leaves one of the same or a higher version alone: a site's own changes stay (indexer.md 4.5). */
  async #putTemplate(signal: AbortSignal): Promise<void> {
    const { ask, timeoutMs, logger } = this.#parts;
    const path = `/_template/${TEMPLATE_NAME}`;
    const template = indexTemplate();
    const found = await ask({ method: 'GET', path, timeoutMs, signal });
    if (found.status === 200 && versionOf(found.text) >= template.version) return;
    const isForbidden = ({ status }: IndexerAnswer): boolean => status === 403;
    const answer = isForbidden(found)
      ? found
      : await ask({ method: 'PUT', path, body: JSON.stringify(template), timeoutMs, signal });
    if (isForbidden(answer)) {
      logger.warn(
        `The account may not put the index template '${TEMPLATE_NAME}' (indices:admin/template): somebody else has to, or fields of alerts get other types.`,
      );
      return;
    }
    if (answer.status !== 200) throw new Error(`the index template was not taken: ${errorOf(answer).shown}`);
    logger.info(`The index template '${TEMPLATE_NAME}' was put.`);
  }

  async #putPipeline(signal: AbortSignal): Promise<void> {
    const { ask, timeoutMs, logger } = this.#parts;
    const processors = ADDRESSES.map((field) => ({
      geoip: {
        field,
        target_field: 'GeoLocation',
        properties: ['city_name', 'country_name', 'region_name', 'location'],
        ignore_missing: true,
        ignore_failure: true,
      },
    }));
    const body = JSON.stringify({ description: 'Where addresses of alerts are', processors });
    const answer = await ask({ method: 'PUT', path: `/_ingest/pipeline/${PIPELINE}`, body, timeoutMs, signal });
    if (answer.status === 200) {
      this.#pipeline = PIPELINE;
      return;
    }
    const { reason, shown } = errorOf(answer);
    const isMissing = answer.status === 400 && reason.includes(NO_GEOIP);
    if (!isMissing && answer.status !== 403) throw new Error(`the pipeline for addresses was not taken: ${shown}`);
    logger.warn(`Alerts are indexed without the place of their addresses: ${shown}`);
  }
}

/** Of a template that is there; -1 when it has none. */
function versionOf(text: string): number {
  let templates: unknown;
  try {
    templates = JSON.parse(text);
  } catch {
    throw new Error('what is said of the index template cannot be read');
  }
  const template = isObject(templates) ? templates[TEMPLATE_NAME] : undefined;
  const version = isObject(template) ? template['version'] : undefined;
  return typeof version === 'number' ? version : template === undefined ? -Infinity : -1;
}
