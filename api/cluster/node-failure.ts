import { BusError } from '../../lib/bus/bus-error.js';
import { ApiError } from '../http/api-error.js';

const NOT_KNOWN = 'whether it was carried out is not known';

/** Why another node has not answered, in the API's codes; its name is in the message. */
export class NodeFailure extends ApiError {
  /** @param unknown whether the cluster has no such node */
  constructor(
    code: 1730 | 3009 | 3021 | 3022,
    readonly node: string,
    reason: string,
    readonly unknown = false,
  ) {
    super(code, { extra: `${node}: ${reason}` });
  }
}

/**
 * What a call to another node failed of (`nodes.ask` of lib/bus/contracts/clusterd.ts).
 * @param isChange whether it changes something: then it is said where that may have been done
 * @throws what is no failure of the call
 */
export function nodeFailure(error: unknown, node: string, isChange: boolean): NodeFailure {
  if (!(error instanceof BusError)) throw error;
  switch (error.code) {
    case 'unknown_node':
      return new NodeFailure(1730, node, 'the cluster has no such node', true);
    case 'node_away':
      return new NodeFailure(3022, node, 'it is not heard');
    case 'cluster_unavailable':
    case 'unavailable':
    case 'unresponsive':
    case 'closed':
      return new NodeFailure(3022, node, error.message);
    case 'node_timeout':
    case 'timeout':
      return new NodeFailure(3021, node, `it has not answered in time${isChange ? `; ${NOT_KNOWN}` : ''}`);
    default:
      return new NodeFailure(3009, node, error.message);
  }
}
