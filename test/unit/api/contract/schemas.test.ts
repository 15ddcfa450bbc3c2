import { Ajv } from 'ajv';
import { expect } from 'chai';
import { loadContract } from '../../../../lib/contract/api-contract.js';

// svc-apid takes the schemas for what they are (api/contract/schema-checker.ts).
describe('schemas of the contract', () => {
  const ajv = new Ajv({ strict: false });

  it('are valid schemas, of each parameter and each body', () => {
    const schemas = loadContract().operations.flatMap(({ id, parameters, body }) => [
      ...parameters.map(({ name, schema }) => ({ of: `${id} ${name}`, schema })),
      ...(body?.json === undefined ? [] : [{ of: `${id} body`, schema: body.json }]),
    ]);
    expect(schemas).to.have.length.above(1000);
    const wrong = schemas.filter(({ schema }) => ajv.validateSchema(schema) !== true);
    expect(wrong.map(({ of }) => of)).to.deep.equal([]);
    expect(ajv.validateSchema({ type: 'object', required: 'name' }), 'a schema that is none').to.equal(false);
  });
});
