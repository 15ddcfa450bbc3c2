import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { isErrorCode, loadErrorCatalogue } from '../../../../api/http/error-catalogue.js';

describe('loadErrorCatalogue', () => {
  const directory = mkdtempSync(join(tmpdir(), 'errors-'));
  const path = join(directory, 'errors.json');
  after(() => rmSync(directory, { recursive: true }));

  const load = (text: string) => {
    writeFileSync(path, text);
    return loadErrorCatalogue(pathToFileURL(path));
  };

  it('reads status, message and remediation of each code', () => {
    const codes = load('{"1701":{"status":404,"message":"Agent does not exist"}}');
    expect([...codes]).to.deep.equal([[1701, { status: 404, message: 'Agent does not exist' }]]);
  });

  it('names the file, the code and the field of a mistake', () => {
    expect(() => load('{"1701":{"status":"none","message":"Agent does not exist"}}')).to.throw(
      `The error catalogue ${path} cannot be used: codes.1701.status: Invalid input: expected number, received string`,
    );
    expect(() => load('{"1701":{"status":404,"massage":"Agent does not exist"}}')).to.throw(/codes\.1701\.message/);
  });

  it('names the file that is no JSON or not there', () => {
    expect(() => load('{"1701": [')).to.throw(`The error catalogue ${path} cannot be used: `);
    rmSync(path);
    expect(() => loadErrorCatalogue(pathToFileURL(path))).to.throw(`${path} cannot be used: ENOENT`);
  });
});

describe('isErrorCode', () => {
  it('knows the codes of the catalogue', () => {
    expect(isErrorCode(1701)).to.equal(true);
    expect(isErrorCode(1702)).to.equal(false);
  });
});
