import { expect } from 'chai';
import { documentationPages } from '../../../../api/docs/documentation-pages.js';
import { exampleOf } from '../../../../api/docs/example-of.js';
import { SchemaDocument } from '../../../../api/docs/schema-document.js';
import { errorCatalogue } from '../../../../api/http/error-catalogue.js';
import { loadContract, type Schema } from '../../../../lib/contract/api-contract.js';
import { ResponseChecker } from '../../../support/api/response-checker.js';

const contract = loadContract();
const document = new SchemaDocument(contract.document);
const pages = documentationPages(contract, errorCatalogue(), ({ id }) => id !== 'getAgents');
const text = (path: string): string => {
  const result = pages.get(path)?.result();
  if (result?.kind !== 'raw') throw new Error(`no page ${path}`);
  return result.body.toString();
};

/** The element of an operation, as the page has it. */
function operationText(id: string): string {
  const page = text('/docs');
  const start = page.indexOf(`<details class="operation" id="${id}"`);
  expect(start, id).to.be.greaterThan(0);
  return page.slice(start, page.indexOf('<h2', start)).split('<details class="operation"')[1]!;
}

describe('the documentation page', () => {
  it('loads nothing from elsewhere, and has no script or style of its own text', () => {
    const page = text('/docs');
    const sources = [...page.matchAll(/\b(?:src|href|action)="([^"]*)"/g)].map(([, address]) => address!);
    for (const address of sources) expect(address).to.match(/^(#|\/docs\/|\/openapi\.json$)/);
    expect(page.match(/<script/g)).to.have.length(1);
    expect(page).to.include('<script type="module" src="/docs/page.js"></script>');
    expect(page).not.to.match(/<style| style="| on[a-z]+="/);
    for (const page of pages.values()) {
      expect(page.contentSecurityPolicy ?? "default-src 'self'").to.equal("default-src 'self'");
    }
  });

  it('serves every module that its script imports', () => {
    const scripts = [...pages.keys()].filter((path) => path.endsWith('.js'));
    expect(scripts).to.include('/docs/page.js');
    for (const path of scripts) {
      for (const [, name] of text(path).matchAll(/from "\.\/([^"]+)"/g)) {
        expect(scripts, path).to.include(`/docs/${name}`);
      }
    }
  });

  it('leads every link on it somewhere, and has each name once', () => {
    const page = text('/docs');
    const names = [...page.matchAll(/ id="([^"]*)"/g)].map(([, name]) => name!);
    expect(new Set(names).size).to.equal(names.length);
    const known = new Set(names);
    for (const [, name] of page.matchAll(/href="#([^"]*)"/g)) expect(known, name).to.include(name);
    for (const name of names) expect(name).to.match(/^[\w-]+$/);
    for (const { id } of contract.operations) expect(known).to.include(id);
    for (const code of errorCatalogue().keys()) expect(known).to.include(`error-${code}`);
    for (const [name] of document.named) expect(known).to.include(`shape-${name}`);
  });

  it('says of an operation what it takes, what it answers, and with which statuses', () => {
    const agents = operationText('postAgents');
    expect(agents).to.include('<h3>Body</h3><p><code>application/json</code></p>');
    expect(agents).to.match(
      /<code>name<\/code> <span class="type">names<\/span> <em>required<\/em> <span class="meaning">Name of the agent/,
    );
    expect(agents).to.include('<code>disconnected_time</code>');
    expect(agents).to.include('"after_registration_time": "1h"');
    expect(agents).to.include(
      '<a href="#shape-DataEnvelope">DataEnvelope</a>, <code>data</code>: <a href="#shape-AgentIdKey">',
    );
    expect(agents).to.include('<a href="#status-429">429</a>');
    expect(agents).to.include('<a href="#error-1705">1705</a>');
    const list = operationText('getAgents');
    expect(list).to.include('<code>data.affected_items</code>: list of <a href="#shape-Agent">Agent</a>');
    expect(list).to.include('<a href="#parameter-limit">limit</a>');
    expect(list).to.include('not in this version');
    expect(operationText('getAgentsNoGroup')).not.to.include('not in this version');
    expect(operationText('getManagerConfiguration')).to.include('Also as <code>application/xml</code>');
  });

  it('gives what the form to try an operation needs', () => {
    const [, data] = /data-try='([^']*)'/.exec(operationText('getSyscheckAgentId'))!;
    const parsed = JSON.parse(data!.replaceAll('&#39;', "'").replaceAll('&amp;', '&')) as { parameters: object[] };
    expect(parsed).to.deep.include({ method: 'GET', path: '/syscheck/{agent_id}', basic: false, types: [] });
    expect(parsed.parameters).to.deep.include({ name: 'agent_id', in: 'path', required: true });
    expect(parsed.parameters).to.deep.include({ name: 'distinct', in: 'query', values: ['true', 'false'] });
  });

  it('describes every field of a body', () => {
    const missing: string[] = [];
    const look = (id: string, schema: Schema) => {
      for (const [name, value] of document.properties(schema)) {
        if (document.resolve(value)['description'] === undefined) missing.push(`${id} ${name}`);
        look(id, value);
      }
    };
    for (const { id, body } of contract.operations) if (body?.json !== undefined) look(id, body.json);
    expect(missing).to.deep.equal([]);
  });

  it('shows examples that the contract allows', () => {
    const checker = new ResponseChecker();
    const paths = contract.document['paths'] as Record<string, Record<string, { responses: Record<string, Schema> }>>;
    for (const { method, path } of contract.operations) {
      for (const [status, response] of Object.entries(paths[path]![method.toLowerCase()]!.responses)) {
        const content = document.resolve(response)['content'] as Record<string, { schema: Schema }>;
        for (const [type, { schema }] of Object.entries(content)) {
          if (!type.includes('json')) continue;
          const example = exampleOf(document, schema);
          const body = {
            text: JSON.stringify(example),
            json: () => example,
            headers: { 'content-type': type },
            reused: false,
          };
          checker.check(method, path, { ...body, status: status === 'default' ? 418 : Number(status) });
        }
      }
    }
  });

  it('shows bodies that the contract allows', () => {
    expect(exampleOf(document, contract.operations.find(({ id }) => id === 'postEvents')!.body!.json!)).to.deep.equal({
      events: ['Dec 10 01:02:02 host sshd[1234]: Failed password for root from 192.0.2.7 port 41234 ssh2'],
    });
    const config = contract.operations.find(({ id }) => id === 'putSecurityConfig')!;
    expect(exampleOf(document, config.body!.json!)).to.deep.equal({ auth_token_exp_timeout: 30, rbac_mode: 'white' });
  });
});
