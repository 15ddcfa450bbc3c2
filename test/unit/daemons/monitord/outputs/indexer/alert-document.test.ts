import { expect } from 'chai';
import fc from 'fast-check';
import { DocumentMaker } from '../../../../../../daemons/monitord/outputs/indexer/alert-document.js';
import { indexTemplate } from '../../../../../../daemons/monitord/outputs/indexer/index-template.js';
import { sampleAlert } from '../../../../../support/monitord/alert-files.js';
import { type FieldMapping, StrictMapping } from '../../../../../support/monitord/strict-mapping.js';

const maker = new DocumentMaker('wazuh-alerts-4.x-', 'node01');
const properties = (indexTemplate()['mappings'] as { properties: Record<string, FieldMapping> }).properties;

function documentOf(alert: Record<string, unknown> | string): Record<string, unknown> {
  const made = maker.make(typeof alert === 'string' ? alert : JSON.stringify(alert));
  if (typeof made === 'string') throw new Error(made);
  return JSON.parse(made.text) as Record<string, unknown>;
}

describe('documents of alerts', () => {
  it('are the alert, its time in UTC and what the shipper adds', () => {
    const alert = sampleAlert();
    expect(documentOf(alert)).to.deep.equal({
      ...alert,
      '@timestamp': '2025-06-05T10:11:23.123Z',
      input: { type: 'log' },
    });
  });

  it('go to the index of the day in UTC', () => {
    const index = (timestamp: string): unknown => {
      const made = maker.make(JSON.stringify(sampleAlert({ timestamp })));
      return typeof made === 'string' ? made : made.index;
    };
    expect(index('2025-06-05T23:59:59.999+0000')).to.equal('wazuh-alerts-4.x-2025.06.05');
    expect(index('2025-06-06T01:30:00.000+0200')).to.equal('wazuh-alerts-4.x-2025.06.05');
    expect(index('2025-06-05T22:30:00.000-0330')).to.equal('wazuh-alerts-4.x-2025.06.06');
    expect(index('2024-12-31T23:00:00.000-0500')).to.equal('wazuh-alerts-4.x-2025.01.01');
    expect(index('2025-06-05T10:11:23Z')).to.equal('wazuh-alerts-4.x-2025.06.05');
    expect(index('yesterday')).to.equal('its timestamp is no time');
    expect(maker.make('{"rule":{}}')).to.equal('its timestamp is no time');
    expect(maker.make('{"timestamp":"2025-06-05T10:11:23.123+0000","rule":')).to.not.be.a('string');
    expect(maker.make('no JSON')).to.equal('the line is no JSON');
    expect(maker.make('[]')).to.equal('the line is no object');
  });

  it('have an id that is the same for the same line of the same node', () => {
    const line = JSON.stringify(sampleAlert());
    const id = (of: DocumentMaker, text: string): string => {
      const made = of.make(text);
      return typeof made === 'string' ? made : made.id;
    };
    expect(id(maker, line)).to.match(/^[0-9a-f]{64}$/);
    expect(id(maker, line)).to.equal(id(new DocumentMaker('wazuh-archives-4.x-', 'node01'), line));
    expect(id(maker, line)).not.to.equal(id(new DocumentMaker('wazuh-alerts-4.x-', 'node02'), line));
    expect(id(maker, line)).not.to.equal(id(maker, JSON.stringify(sampleAlert({ id: '1749118283.1' }))));
    const reduced = maker.reduced(line);
    expect(typeof reduced === 'string' ? reduced : reduced.id).to.equal(id(maker, line));
  });

  it('leave out what the shipper removes, at the root alone', () => {
    const document = documentOf(
      sampleAlert({ type: 'x', host: 'h', event: {}, data: { type: 'kept', event: { a: '1' } } }),
    );
    expect(document).to.not.have.any.keys('type', 'host', 'event');
    expect(document['data']).to.deep.equal({ type: 'kept', event: { a: '1' } });
  });

  it('have the region and the account of AWS under one name', () => {
    const aws = (members: object): unknown =>
      (documentOf(sampleAlert({ data: { aws: members } }))['data'] as { aws: unknown }).aws;
    expect(aws({ awsRegion: 'eu-west-1', aws_account_id: '12' })).to.deep.include({
      region: 'eu-west-1',
      accountId: '12',
    });
    expect(aws({ awsRegion: 'eu-west-1', region: 'us-east-1' })).to.deep.include({ region: 'us-east-1' });
    expect(aws({ awsRegion: '', region: '' })).to.deep.equal({ awsRegion: '', region: '' });
  });

  it('have no keyword that is too long, and keep texts whole', () => {
    const long = 'ä'.repeat(40_000);
    const document = documentOf(sampleAlert({ full_log: long, previous_output: long, data: { url: [`${long}x`] } }));
    expect(document['full_log']).to.equal(long);
    expect(document['previous_output']).to.equal('ä'.repeat(16_383));
    expect(document['data']).to.deep.equal({ url: ['ä'.repeat(16_383)] });
  });

  it('have data as one text where that was refused', () => {
    const line = JSON.stringify(sampleAlert({ data: { a: { b: 'ö'.repeat(40_000) } } }));
    const made = maker.reduced(line);
    const document = JSON.parse(typeof made === 'string' ? made : made.text) as Record<string, unknown>;
    expect(document).to.not.have.property('data');
    expect(Buffer.byteLength(document['data_raw'] as string)).to.be.within(31_990, 32_000);
    expect(document['rule']).to.deep.equal(sampleAlert()['rule']);
  });

  it('are the same whether or not the line had to be read', () => {
    const data = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string())));
    fc.assert(
      fc.property(
        data,
        fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
        (members, date) => {
          const alert = sampleAlert({ timestamp: date.toISOString().replace('Z', '+0000'), data: members });
          const document = documentOf(alert);
          // A blank behind the first brace has it read.
          expect(document).to.deep.equal(documentOf(JSON.stringify(alert).replace('{', '{ ')));
          expect(document['@timestamp']).to.equal(date.toISOString());
        },
      ),
    );
  });

  it('fit the template', () => {
    const mapping = new StrictMapping(properties);
    mapping.take(documentOf(sampleAlert()));
    mapping.take(
      documentOf(
        sampleAlert({
          previous_output: 'x',
          syscheck: {
            path: '/etc/a',
            mode: 'realtime',
            size_after: '12',
            mtime_after: '2025-06-05T10:11:23',
            tags: ['a'],
          },
          GeoLocation: { city_name: 'x', location: { lat: 1, lon: 2 } },
          data: {
            sca: { score: 12, passed: '1' },
            port: { local_ip: '::1', local_port: '22' },
            aws: { srcaddr: '10.0.0.1' },
          },
        }),
      ),
    );
  });
});

describe('the template of alerts', () => {
  const template = indexTemplate();

  it('has the fields that dashboards need, of the type they need', () => {
    const typeOf = (path: string): unknown =>
      path.split('.').reduce<FieldMapping | undefined>((at, name) => at?.properties?.[name], { properties })?.type;
    for (const path of [
      'rule.groups',
      'manager.name',
      'agent.id',
      'data.srcip',
      'cluster.name',
      'syscheck.uname_after',
    ]) {
      expect(typeOf(path), path).to.equal('keyword');
    }
    expect(typeOf('timestamp')).to.equal('date');
    expect(typeOf('rule.level')).to.equal('long');
    expect(typeOf('full_log')).to.equal('text');
    expect(typeOf('GeoLocation.location')).to.equal('geo_point');
    expect(typeOf('data.netinfo.iface.ipv6.metric')).to.equal('long');
    expect(typeOf('data.port.remote_ip')).to.equal('ip');
  });

  it('names what a search without a field looks in, no more than a server takes', () => {
    const settings = template['settings'] as { index: Record<string, unknown> };
    const fields = settings.index['query.default_field'] as string[];
    expect(fields.length).to.be.within(300, 1024);
    expect(new Set(fields)).to.have.length(fields.length);
    expect(fields).to.include.members(['full_log', 'rule.description', 'data.srcip', 'agent.name']);
    expect(JSON.stringify(template)).not.to.match(/[{}][a-z_]+,|ignore_above/);
  });
});
