import { expect } from 'chai';
import type { HttpMethod } from '../../../lib/contract/api-contract.js';
import { ResponseChecker } from './response-checker.js';
import type { TestApi } from './test-api.js';

export type FailedItem = {
  error: { code: number; message: string; remediation?: string };
  id: (string | number)[];
};

/** A list as the API answers it. */
export type ApiList<Item = Record<string, unknown>> = {
  data: {
    affected_items: Item[];
    total_affected_items: number;
    total_failed_items: number;
    failed_items: FailedItem[];
  };
  message: string;
  error: number;
};

/** Calls operations that answer lists, and holds each answer against the contract. */
export class ListCaller {
  readonly checker = new ResponseChecker();

  constructor(readonly api: TestApi) {}

  /** @param template path in the contract, where the path has places */
  async get(path: string, template?: string): Promise<ApiList> {
    return this.call('GET', path, template === undefined ? {} : { template });
  }

  async call(
    method: HttpMethod,
    path: string,
    options: { template?: string; body?: string | Buffer; status?: number } = {},
  ): Promise<ApiList> {
    const headers = options.body === undefined ? {} : { 'content-type': 'application/octet-stream' };
    const answer = await this.api.call(method, path, options.body, headers);
    expect(answer.status, answer.text).to.equal(options.status ?? 200);
    this.checker.check(method, options.template ?? path.split('?')[0] ?? path, answer);
    return answer.json() as ApiList;
  }
}
