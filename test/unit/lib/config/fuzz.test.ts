import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { ConfigError } from '../../../../lib/config/config-error.js';
import { ApiConfigError, parseApiConfig } from '../../../../lib/config/load-api-config.js';
import { parseManagerConfig } from '../../../../lib/config/load-manager-config.js';
import { SECTION_NAMES } from '../../../../lib/config/manager-config.js';
import { ConfigurationViewError, renderConfiguration } from '../../../../lib/config/render-configuration.js';
import { renderRawConfiguration } from '../../../../lib/config/render-raw-configuration.js';
import { productRoot } from '../../../../lib/product/product-root.js';

const SHIPPED = readFileSync(new URL('etc/manager.conf', productRoot()), 'utf8');
const SHIPPED_API = readFileSync(new URL('etc/api/api.yaml', productRoot()), 'utf8').replace(/^# (?= *[a-z_]+:)/gm, '');

/** Whatever the text is, it is read or refused with an error of ours. */
function survives(text: string): void {
  try {
    parseManagerConfig(text, 'etc/manager.conf');
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    const { file, line } = error as ConfigError;
    expect(file).to.equal('etc/manager.conf');
    expect(line).to.be.within(0, text.split('\n').length);
  }
  try {
    JSON.stringify(renderConfiguration(text, 'etc/manager.conf', { secrets: false }));
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigurationViewError);
  }
  renderRawConfiguration(text, false);
}

function survivesApi(text: string): void {
  try {
    parseApiConfig(text, 'api.yaml');
  } catch (error) {
    expect(error).to.be.instanceOf(ApiConfigError);
  }
}

/** Pieces that mean something in a configuration, to be put together in any order. */
const PIECES = fc.oneof(
  fc.constantFrom(
    '<manager_config>',
    '</manager_config>',
    '<ossec_config>',
    '</ossec_config>',
    '<query>',
    '</query>',
    '<!--',
    '-->',
    '\\',
    '<',
    '>',
    '&amp;',
    ' name="command"',
    '<wodle name="syscollector">',
    '\n',
    '99999999999999999999',
    'yes',
    '1h',
    '\ue000',
    '<__proto__>',
  ),
  fc.constantFrom(...SECTION_NAMES).chain((name) => fc.constantFrom(`<${name}>`, `</${name}>`, `<${name}/>`)),
  fc.string({ maxLength: 8 }),
);

/** Cuts, doubles, drops or changes a part of a text. */
function mutated(text: string): fc.Arbitrary<string> {
  return fc
    .array(
      fc.record({
        at: fc.nat(text.length),
        length: fc.nat(200),
        with: fc.oneof(PIECES, fc.constant(''), fc.string({ unit: 'binary', maxLength: 20 })),
      }),
      { minLength: 1, maxLength: 5 },
    )
    .map((changes) =>
      changes.reduce(
        (result, change) => result.slice(0, change.at) + change.with + result.slice(change.at + change.length),
        text,
      ),
    );
}

describe('configuration readers on hostile text', () => {
  it('survive any characters', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), survives), { numRuns: 500 });
  });

  it('survive any order of tags', () => {
    fc.assert(
      fc.property(
        fc.array(PIECES, { maxLength: 60 }).map((parts) => parts.join('')),
        survives,
      ),
      { numRuns: 1000 },
    );
  });

  it('survive damage to the shipped file', () => {
    fc.assert(fc.property(mutated(SHIPPED), survives), { numRuns: 300 });
  });

  it('survive any section with any content', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...SECTION_NAMES),
        fc.array(
          fc.tuple(
            fc.constantFrom(
              'level',
              'disabled',
              'port',
              'key',
              'name',
              'command',
              'location',
              'interval',
              'node',
              'nodes',
              'x',
            ),
            fc.string({ maxLength: 12 }).map((value) => value.replace(/[<\\]/g, '')),
          ),
          { maxLength: 6 },
        ),
        (section, options) => {
          const body = options.map(([name, value]) => `<${name}>${value}</${name}>`).join('');
          survives(`<manager_config><${section}>${body}</${section}></manager_config>`);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('take linear time on a large file of open tags', () => {
    // Quadratic work on a megabyte takes minutes and ends in mocha's time-out.
    for (const piece of ['<cluster><key', '<query>', '<cluster>', '<!', '<localfile>', '<query ', '<a b="']) {
      survives(piece.repeat(100_000));
    }
  });

  it('survive any api.yaml', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 500 }), survivesApi), { numRuns: 500 });
    fc.assert(fc.property(mutated(SHIPPED_API), survivesApi), { numRuns: 300 });
  });
});
