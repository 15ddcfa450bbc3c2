import { Ajv } from 'ajv';
import { loadContract, type Operation } from '../../../lib/contract/api-contract.js';
import type { TestResponse } from './http-request.js';

type Contract = ReturnType<typeof loadContract>;

/** Of this process: reading the contract and compiling its schemas costs more than most tests do. */
let shared: { readonly ajv: Ajv; readonly contract: Contract } | undefined;

function sharedSchemas(): { readonly ajv: Ajv; readonly contract: Contract } {
  if (shared === undefined) {
    const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
    const contract = loadContract();
    ajv.addSchema(contract.document, 'contract');
    shared = { ajv, contract };
  }
  return shared;
}

/** Holds answers of the API against the schemas of the contract. */
export class ResponseChecker {
  readonly #ajv: Ajv;
  readonly operations: readonly Operation[];

  readonly #paths: Record<string, Record<string, { responses: Record<string, { $ref?: string }> }>>;

  constructor() {
    const { ajv, contract } = sharedSchemas();
    this.#ajv = ajv;
    this.#paths = contract.document['paths'] as never;
    this.operations = contract.operations;
  }

  /** @throws Error that lists what the contract does not allow */
  check(method: string, path: string, response: TestResponse): void {
    const responses = this.#paths[path]?.[method.toLowerCase()]?.responses ?? {};
    const code = responses[String(response.status)] === undefined ? 'default' : String(response.status);
    const type = String(response.headers['content-type']).split(';')[0] ?? '';
    let pointer = `paths/${escape(path)}/${method.toLowerCase()}/responses/${code}`;
    const reference = responses[code]?.$ref;
    if (reference !== undefined) pointer = reference.replace(/^#\//, '');
    const validate = this.#ajv.getSchema(`contract#/${pointer}/content/${escape(type)}/schema`);
    if (validate === undefined) throw new Error(`${method} ${path}: no ${type} for ${response.status} in the contract`);
    const value: unknown = type.includes('json') ? response.json() : response.text;
    if (validate(value) !== true) {
      throw new Error(`${method} ${path}: ${this.#ajv.errorsText(validate.errors)}: ${response.text.slice(0, 500)}`);
    }
  }
}

function escape(part: string): string {
  return encodeURIComponent(part.replace(/~/g, '~0').replace(/\//g, '~1'));
}
