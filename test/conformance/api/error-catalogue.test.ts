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

/** Codes of the reference's upgrade module (rest-api.md 6.2), which its list of the API's codes leaves out; their texts say what happened. */
const OF_UPGRADES = [1813, 1816, 1817, 1818, 1819, 1820, 1821, 1822, 1823, 1825, 1826, 1828];

/** Of what the reference does not have (rest-api.md 3.5, 6.19, 6.20). */
const OWN = [8000, 8001, 8002, 8003, 8004, 8005, 8006, 8007, 8008, 8009];

describe('the error catalogue', () => {
  const catalogue = loadErrorCatalogue();
  const reference = new Map(
    readVectors<{ errors: ReferenceError[] }>('api-errors.json').errors.map((error) => [error.code, error]),
  );

  it('has the codes of the reference', () => {
    expect([...catalogue.keys(), ...NOT_OURS]).to.have.members([...reference.keys(), ...OF_UPGRADES, ...OWN]);
  });

  it('gives each its text, a status of its requests, and a remediation where the reference has one', () => {
    for (const [code, { status, message, remediation }] of catalogue) {
      if (OF_UPGRADES.includes(code) || OWN.includes(code)) continue;
      const expected = reference.get(code);
      expect(message, String(code)).to.equal(expected?.message);
      expect(remediation === undefined, String(code)).to.equal(expected?.remediation === null);
      expect(expected?.http_status, String(code)).to.include(status);
    }
  });
});
