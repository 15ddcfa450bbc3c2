import { BusError } from '../../lib/bus/bus-error.js';
import type { HandlerParams, Handlers } from '../../lib/bus/contract.js';
import type { apidContract, RelayedAnswer } from '../../lib/bus/contracts/apid.js';
import type { Operation } from '../../lib/contract/api-contract.js';
import type { Logger } from '../../lib/log/logger.js';
import type { SchemaChecker } from '../contract/schema-checker.js';
import { parseJsonBody } from '../http/body-check.js';
import type { Dispatcher } from '../http/dispatcher.js';
import type { ApiResult } from '../http/envelope.js';
import type { ParameterValues } from '../http/parameter-values.js';
import { ProblemError } from '../http/problem-error.js';
import { jsonBytes } from '../http/send-result.js';
import { Permissions } from '../rbac/permissions.js';
import { AnswerRests } from './answer-rests.js';
import { unpackAgents, unpackBytes } from './packed-bytes.js';
import type { RequestPart } from './request-part.js';

type RunParams = HandlerParams<typeof apidContract, 'api.run'>;

export type RelayedCallsParts = {
  readonly operations: readonly Operation[];
  readonly dispatcher: Dispatcher;
  readonly checker: SchemaChecker;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic: () => number;
};

export type RelayHandlers = Pick<Handlers<typeof apidContract>, 'api.run' | 'api.rest'>;

/**
 * What other nodes ask for callers of theirs (daemons-and-config.md 10.5): operations that nodes have to ask each other for and no
 * others, held against the contract as a client's request is, and run by what the caller may.
 */
export function relayHandlers({
  operations,
  dispatcher,
  checker,
  logger,
  monotonic,
}: RelayedCallsParts): RelayHandlers {
  const known = new Map(operations.filter(({ spread }) => spread !== 'here').map((one) => [one.id, one]));
  const rests = new AnswerRests(monotonic);
  return {
    'api.run': async (params) => {
      const operation = known.get(params.operation);
      if (operation === undefined) {
        throw new BusError('not_relayed', `${params.operation} is not answered for other nodes`);
      }
      const { caller, from, limitMs } = params;
      const parameters = checked(operation, params.parameters, checker);
      if (operation.method !== 'GET') {
        logger.info(`${operation.method} ${operation.path} for '${caller.name}', who asked node ${from}.`);
      }
      try {
        const call = {
          operation,
          parameters,
          body: await bodyOf(operation, params, checker),
          caller: { permissions: new Permissions(caller.mode, caller.policies) },
          loginUser: undefined,
        };
        const result = await dispatcher.relayed(call, partOf(params), limitMs);
        return await packed(result, params.form, parameters, rests);
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
        const { status, members, headers } = error;
        return { kind: 'refused', status, members: { ...members }, headers: { ...headers } };
      }
    },
    'api.rest': ({ rest, at }) => ({ bytes: rests.piece(rest, at) }),
  };
}

/** @throws BusError `bad_params` for parameters that no request of a client could have */
function checked(operation: Operation, given: ParameterValues, checker: SchemaChecker): ParameterValues {
  const names = new Map(operation.parameters.map((parameter) => [parameter.name, parameter]));
  for (const [name, value] of Object.entries(given)) {
    const schema = names.get(name)?.schema;
    const violation = schema === undefined ? undefined : checker.check(schema, value);
    if (schema === undefined || violation !== undefined) {
      throw new BusError('bad_params', `${operation.id}: ${name}: ${violation?.reason ?? 'is no parameter of it'}`);
    }
  }
  const absent = operation.parameters.find(({ name, required }) => required && given[name] === undefined);
  if (absent !== undefined) throw new BusError('bad_params', `${operation.id}: ${absent.name} is required`);
  return given;
}

/** @throws ProblemError 400 */
async function bodyOf({ body: rule }: Operation, { body }: RunParams, checker: SchemaChecker): Promise<unknown> {
  if (rule === undefined || body === undefined) return undefined;
  const bytes = await unpackBytes(body);
  return rule.json === undefined ? bytes : parseJsonBody(bytes, rule.json, checker);
}

function partOf({ agents, rows }: RunParams): RequestPart {
  return {
    ...(agents === undefined ? {} : { agents: unpackAgents(agents) }),
    ...(rows === undefined ? {} : { rows }),
  };
}

async function packed(
  result: ApiResult,
  form: RunParams['form'],
  parameters: ParameterValues,
  rests: AnswerRests,
): Promise<RelayedAnswer> {
  if (form === 'list') {
    const list = result.kind === 'json' ? result.list : undefined;
    if (list === undefined) throw new Error('the operation does not answer with a list');
    const { kept: _kept, failed = [], ...others } = list;
    // The message of an error is no member that JSON would have.
    const told = failed.map(({ id, error: { code, message, remediation } }) => ({
      id,
      error: { code, message, remediation },
    }));
    return { kind: 'list', list: await rests.pack(Buffer.from(JSON.stringify({ ...others, failed: told }))) };
  }
  if (result.kind === 'stream') throw new Error('a stream is answered by one node');
  if (result.kind === 'json') {
    const body = await rests.pack(jsonBytes(result, parameters['pretty'] === true));
    return { kind: 'sent', status: result.status, contentType: 'application/json', body };
  }
  const { status, contentType, etag } = result;
  const body = await rests.pack(Buffer.from(result.body));
  return { kind: 'sent', status, contentType, ...(etag === undefined ? {} : { etag }), body };
}
