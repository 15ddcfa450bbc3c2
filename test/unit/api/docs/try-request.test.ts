import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { matchesSearch } from '../../../../api/docs/browser/matches-search.js';
import {
  basicAuthorization,
  curlCommand,
  readableAnswer,
  type TryOperation,
  tryRequest,
} from '../../../../api/docs/browser/try-request.js';

const OPERATION: TryOperation = {
  method: 'PUT',
  path: '/agents/{agent_id}/group/{group_id}',
  basic: false,
  types: ['application/json'],
  parameters: [
    { name: 'agent_id', in: 'path', required: true },
    { name: 'group_id', in: 'path', required: true },
    { name: 'q', in: 'query' },
    { name: 'os.name', in: 'query' },
  ],
};

describe('a request that is tried on the documentation page', () => {
  const values = (others: Record<string, string> = {}) =>
    new Map(Object.entries({ agent_id: '001', group_id: 'web', ...others }));

  it('has the values where they belong, encoded; what is empty is left out', () => {
    const request = tryRequest(OPERATION, { parameters: values({ group_id: 'a/b', q: 'id=1;x', 'os.name': '' }) });
    expect(request).to.deep.equal({ method: 'PUT', target: '/agents/001/group/a%2Fb?q=id%3D1%3Bx', headers: {} });
  });

  it('carries body, its type and the login', () => {
    const request = tryRequest(OPERATION, {
      parameters: values(),
      type: 'application/json',
      body: '{}',
      authorization: 'Bearer abc',
    });
    expect(request).to.deep.include({ target: '/agents/001/group/web', body: '{}' });
    expect(request.headers).to.deep.equal({ Authorization: 'Bearer abc', 'Content-Type': 'application/json' });
  });

  it('is refused without a required value', () => {
    expect(() => tryRequest(OPERATION, { parameters: values({ agent_id: '' }) })).to.throw('agent_id is required');
  });

  it('is shown as a command without its secrets, which a shell takes as it is meant', () => {
    const parameters = values({ q: "name=it's" });
    const body = '{"a": "$HOME \'x\'"}';
    const request = tryRequest(OPERATION, { parameters, type: 'application/json', body, authorization: 'Bearer abc' });
    const command = curlCommand(request, 'https://localhost:55000');
    expect(command).not.to.include('abc');
    const words = execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }; TOKEN=t; ${command}`], {
      encoding: 'utf8',
    });
    expect(words.split('\0').slice(0, -1)).to.deep.equal([
      ...['-s', '-X', 'PUT', '-H', 'Authorization: Bearer t', '-H', 'Content-Type: application/json'],
      ...['--data-binary', body, "https://localhost:55000/agents/001/group/web?q=name%3Dit's"],
    ]);
    const basic = curlCommand({ ...request, headers: { Authorization: 'Basic abc' } }, '');
    expect(basic).to.include('-u "$USER"').and.not.include('abc');
  });

  it('takes names and passwords of any letters', () => {
    const text = basicAuthorization('admin', 'pä:ss😀');
    expect(Buffer.from(text.slice('Basic '.length), 'base64').toString()).to.equal('admin:pä:ss😀');
  });

  it('has its answer indented when it is JSON', () => {
    expect(readableAnswer('{"a": [1]}')).to.equal('{\n  "a": [\n    1\n  ]\n}');
    expect(readableAnswer('<a/>')).to.equal('<a/>');
  });

  it('is found by words in any order and case', () => {
    expect(matchesSearch('get /agents list agents', 'LIST  agents')).to.equal(true);
    expect(matchesSearch('get /agents list agents', 'list rules')).to.equal(false);
    expect(matchesSearch('get /agents', '')).to.equal(true);
  });
});
