import { expect } from 'chai';
import { type ApiMethod, loadOperations } from '../../../../bin/api/operations.js';
import { parseRequest } from '../../../../bin/api/request-line.js';
import { ApiUsageError } from '../../../../bin/api/usage-error.js';

describe('a request of svc-api', () => {
  const operations = loadOperations();
  const parsed = (method: ApiMethod, target: string, ...pairs: string[]) => {
    const { operation, path, query } = parseRequest(operations, method, target, pairs);
    return [operation.path, path, Object.fromEntries(query)];
  };
  const refusal = (method: ApiMethod, target: string, ...pairs: string[]): string => {
    try {
      parseRequest(operations, method, target, pairs);
    } catch (error) {
      if (error instanceof ApiUsageError) return error.message;
      throw error;
    }
    throw new Error('it was taken');
  };

  it('takes parameters behind the path and as words, the last of a name counts', () => {
    expect(parsed('GET', '/agents?limit=5&q=id%3E001;name~a+b', 'limit=7', 'search=a+b=c')).to.deep.equal([
      '/agents',
      '/agents',
      { limit: '7', q: 'id>001;name~a b', search: 'a+b=c' },
    ]);
    expect(parsed('GET', '/agents/')).to.deep.equal(['/agents', '/agents', {}]);
    expect(parsed('GET', '/')).to.deep.equal(['/', '/', {}]);
    expect(parsed('GET', '/agents?search=100%')).to.deep.equal(['/agents', '/agents', { search: '100%' }]);
  });

  it('prefers paths that are named to places', () => {
    expect(parsed('GET', '/security/users/me')[0]).to.equal('/security/users/me');
    expect(parsed('PUT', '/agents/group/web/restart')[0]).to.equal('/agents/group/{group_id}/restart');
    expect(parsed('GET', '/groups/w%65b/agents').slice(0, 2)).to.deep.equal([
      '/groups/{group_id}/agents',
      '/groups/web/agents',
    ]);
  });

  it('says what was probably meant', () => {
    expect(refusal('GET', '/agnets')).to.equal("the API has no /agnets (did you mean '/agents'?)");
    expect(refusal('GET', '/mitre/nothing')).to.match(
      /^the API has no \/mitre\/nothing; there is\n {2}\/mitre\/groups\n/,
    );
    expect(refusal('GET', '/nothing/at/all')).to.contain('; paths begin with agents, alerts, ciscat, cluster, ');
    expect(refusal('PUT', '/agents/summary')).to.equal('/agents/summary has no PUT: there is GET');
    expect(refusal('GET', 'agents')).to.equal('a path begins with a slash: /agents');
    expect(refusal('GET', '/agents', 'limti=5')).to.contain(
      "no parameter 'limti' (did you mean 'limit'?); it takes agents_list, ",
    );
    expect(refusal('GET', '/agents', 'status=activ'))
      .to.contain("'activ' is none of active")
      .and.contain("mean 'active'?");
  });

  it('refuses values that the contract does not take', () => {
    expect(refusal('GET', '/agents?limit=0')).to.equal("limit: '0' is less than 1");
    expect(refusal('GET', '/agents?limit=100001')).to.equal("limit: '100001' is more than 100000");
    expect(refusal('GET', '/agents?limit=five')).to.equal("limit: 'five' is no whole number");
    expect(refusal('GET', '/agents?agents_list=001,x')).to.match(/^agents_list: 'x' /);
    expect(refusal('GET', '/agents', 'wait_for_complete=yes')).to.contain("'yes' is neither true nor false");
    expect(refusal('GET', '/agents', 'limit')).to.equal("'limit' is no parameter: NAME=VALUE");
    expect(refusal('DELETE', '/agents', 'agents_list=001')).to.contain('DELETE /agents needs status=...: ');
    expect(refusal('GET', '/agents/{agent_id}/key')).to.match(/^\{agent_id\} stands for /);
    expect(refusal('GET', '/groups/../agents')).to.equal("'..' is no {group_id}");
  });
});
