import { expect } from 'chai';
import { loadErrorCatalogue } from '../../../api/http/error-catalogue.js';
import { readVectors } from '../../support/read-vectors.js';

/** An error code of the reference; the remediation, where there is one, is said in other words here. */
type ReferenceError = {
  readonly code: number;
  readonly message: string;
  readonly remediation: string | null;
  /** Statuses of requests that end with it; none where it only travels in `failed_items` or is never seen. */
  readonly http_status: readonly number[];
};

/** Codes that tell of the reference's own making (its Python, SQLite and load balancer): nothing here can raise them. */
const NOT_OURS = [999, 1001, 1002, 1003, 1004, 1910, 2000, 2001, 2002, 3019, 3049];

describe('the error catalogue', () => {
  const catalogue = loadErrorCatalogue();
  const reference = new Map(
    readVectors<{ errors: ReferenceError[] }>('api-errors.json').errors.map((error) => [error.code, error]),
  );

  it('has the codes of the reference', () => {
    expect([...catalogue.keys(), ...NOT_OURS]).to.have.members([...reference.keys()]);
  });

  it('gives each its text, a status of its requests, and a remediation where the reference has one', () => {
    for (const [code, { status, message, remediation }] of catalogue) {
      const expected = reference.get(code);
      expect(message, String(code)).to.equal(expected?.message);
      expect(remediation === undefined, String(code)).to.equal(expected?.remediation === null);
      expect(expected?.http_status, String(code)).to.include(status);
    }
  });
});
