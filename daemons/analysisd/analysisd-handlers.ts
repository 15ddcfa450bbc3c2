import { BusError } from '../../lib/bus/bus-error.js';
import type { Handlers } from '../../lib/bus/contract.js';
import type { analysisdContract } from '../../lib/bus/contracts/analysisd.js';
import type { commonMethods } from '../../lib/bus/contracts/common.js';
import type { Logger } from '../../lib/log/logger.js';
import type { AnalysisdStatistics } from './analysisd-statistics.js';
import type { Configuration } from './configuration.js';
import { EngineDiagnostics } from './engine-diagnostics.js';
import { listLoadedRules } from './list-loaded-rules.js';
import type { LogtestService } from './logtest-service.js';
import type { RecordReader } from './record-reader.js';

export type AnalysisdHandlersParts = {
  readonly logtest: LogtestService;
  readonly configuration: Configuration;
  readonly statistics: AnalysisdStatistics;
  /** Undefined when alerts.json is switched off. */
  readonly alerts: RecordReader | undefined;
  readonly responses: RecordReader;
  /**
   * Re-reads the configuration with the ruleset.
   * @returns the warnings of the load
   * @throws Error: what was in force stays
   */
  readonly reload: (diagnostics: EngineDiagnostics) => Promise<readonly string[]>;
  /** The same with the ruleset that is in force in the cluster by now. */
  readonly takeInForce: (diagnostics: EngineDiagnostics) => Promise<readonly string[]>;
  readonly logger: Logger;
};

/** Answers of svc-analysisd beyond those every daemon gives. */
export function analysisdHandlers({
  logtest,
  configuration,
  statistics,
  alerts,
  responses,
  reload,
  takeInForce,
  logger,
}: AnalysisdHandlersParts): Omit<Handlers<typeof analysisdContract>, keyof typeof commonMethods> {
  const attempt = async (load: AnalysisdHandlersParts['reload']) => {
    const diagnostics = new EngineDiagnostics(logger);
    try {
      return { error: 0 as const, data: [...(await load(diagnostics))] };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      logger.error(`The ruleset was not reloaded, the one in force stays: ${reason}`);
      return { error: 1 as const, data: diagnostics.errors.length > 0 ? [...diagnostics.errors] : [reason] };
    }
  };
  return {
    'logtest.run': (params) => logtest.run(params),
    'logtest.close': (params) => logtest.close(params),
    'rules.list': () => ({ rules: listLoadedRules(configuration.loaded.sources) }),
    'ruleset.check': ({ ruleset }) => ({ errors: [...logtest.check(ruleset)] }),
    'ruleset.reload': () => attempt(reload),
    'ruleset.switch': async ({ ruleset }) => {
      if (configuration.clusterRuleset === ruleset) return { error: 0, data: [] };
      const answer = await attempt(takeInForce);
      if (answer.error === 0 && configuration.clusterRuleset !== ruleset) {
        throw new BusError('not_in_force', 'another ruleset of the cluster is in force on this node');
      }
      return answer;
    },
    'statistics.read': () => statistics.report(),
    'statistics.agents': ({ ids }) => statistics.agents(ids),
    'alerts.read': async ({ after, max, waitMs }) => {
      if (alerts === undefined) throw new BusError('disabled', 'alerts.json is switched off (jsonout_output)');
      const page = await alerts.read(after, max, waitMs);
      return { alerts: [...page.records], next: page.next };
    },
    'responses.read': async ({ after, max, waitMs }) => {
      const page = await responses.read(after, max, waitMs);
      return { responses: [...page.records], next: page.next };
    },
  };
}
