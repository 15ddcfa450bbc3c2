import { expect } from 'chai';
import { AttackCatalogue } from '../../../../api/mitre/attack-catalogue.js';
import type { AttackData, AttackRecord } from '../../../../api/mitre/attack-data.js';

const TIMES = { created_time: '2020-01-02T03:04:05.678Z', modified_time: '2025-10-24T17:48:19.059Z' };
const record = (external_id: string, others: Partial<AttackRecord> = {}): AttackRecord => ({
  external_id,
  id: `object--${external_id.toLowerCase()}`,
  name: `Name of ${external_id}`,
  mitre_version: '1.0',
  ...TIMES,
  ...others,
});
const data = (others: Partial<AttackData> = {}): AttackData => ({
  version: '1.2',
  references: [
    ['First', 'https://example.org/1'],
    ['Second', 'https://example.org/2'],
  ],
  tactics: [record('TA2', { short_name: 'two' }), record('TA1', { short_name: 'one' })],
  techniques: [
    record('T1', { tactics: ['TA2', 'TA1'], references: [1, 0] }),
    record('T1.001', { tactics: ['TA1'], subtechnique_of: 'T1', remote_support: false }),
    record('T2', { deprecated: true, revoked_by: 'T1' }),
  ],
  groups: [record('G1', { techniques: ['T1', 'T1.001'], software: ['S1'] })],
  mitigations: [record('M1', { techniques: ['T1'], references: [1] })],
  software: [record('S1', { techniques: ['T1.001'] })],
  descriptions: { techniques: { T1: 'Our line.' } },
  ...others,
});

describe('AttackCatalogue', () => {
  const catalogue = new AttackCatalogue(() => data());
  const item = (kind: 'techniques' | 'tactics' | 'groups' | 'software' | 'mitigations', external: string) =>
    catalogue.items(kind).find(({ external_id }) => external_id === external);

  it('shows an object with ids of what it is related to, its own page first among what it cites', () => {
    expect(item('techniques', 'T1')).to.deep.equal({
      id: 'object--t1',
      name: 'Name of T1',
      description: 'Our line.',
      created_time: '2020-01-02T03:04:05.678000Z',
      modified_time: '2025-10-24T17:48:19.059000Z',
      mitre_version: '1.0',
      deprecated: 0,
      tactics: ['object--ta2', 'object--ta1'],
      mitigations: ['object--m1'],
      software: [],
      groups: ['object--g1'],
      references: [
        { source: 'mitre-attack', url: 'https://attack.mitre.org/techniques/T1', external_id: 'T1' },
        { source: 'Second', url: 'https://example.org/2' },
        { source: 'First', url: 'https://example.org/1' },
      ],
      external_id: 'T1',
      source: 'mitre-attack',
      url: 'https://attack.mitre.org/techniques/T1',
    });
  });

  it('knows relations from both ends', () => {
    expect(item('tactics', 'TA1')?.techniques).to.deep.equal(['object--t1', 'object--t1.001']);
    expect(item('software', 'S1')?.groups).to.deep.equal(['object--g1']);
    expect(item('techniques', 'T1.001')?.software).to.deep.equal(['object--s1']);
    expect(item('mitigations', 'M1')?.techniques).to.deep.equal(['object--t1']);
  });

  it('says what a technique is part of, what took its place, and how it is reached, where that is known', () => {
    expect(item('techniques', 'T1.001')).to.include({
      description: '',
      subtechnique_of: 'object--t1',
      remote_support: 0,
      url: 'https://attack.mitre.org/techniques/T1/001',
    });
    expect(item('techniques', 'T2')).to.include({ deprecated: 1, revoked_by: 'object--t1' });
    expect(item('techniques', 'T1')).not.to.have.any.keys('revoked_by', 'subtechnique_of', 'remote_support');
    expect(item('tactics', 'TA1')).not.to.have.any.keys('mitre_version', 'deprecated');
  });

  it('lists by id, and references with their object', () => {
    expect(catalogue.items('tactics').map(({ id }) => id)).to.deep.equal(['object--ta1', 'object--ta2']);
    const of = (id: string) => catalogue.references().filter((reference) => reference.id === id);
    expect(of('object--m1')).to.deep.equal([
      {
        id: 'object--m1',
        source: 'mitre-attack',
        url: 'https://attack.mitre.org/mitigations/M1',
        external_id: 'M1',
        type: 'mitigation',
      },
      { id: 'object--m1', source: 'Second', url: 'https://example.org/2', type: 'mitigation' },
    ]);
    const ids = catalogue.references().map(({ id }) => id);
    expect(ids).to.deep.equal([...ids].sort());
  });

  it('reads its data when somebody asks, and once', () => {
    let reads = 0;
    const lazy = new AttackCatalogue(() => {
      reads += 1;
      return data();
    });
    expect(reads).to.equal(0);
    expect(lazy.metadata()).to.deep.include({ key: 'mitre_version', value: '1.2' });
    lazy.items('groups');
    lazy.references();
    expect(reads).to.equal(1);
  });

  it('refuses data that names what is not there, each time it is asked', () => {
    const broken = new AttackCatalogue(() => data({ groups: [record('G1', { techniques: ['T9'] })] }));
    expect(() => broken.items('groups')).to.throw("the ATT&CK data has no 'T9' among its techniques");
    expect(() => broken.items('tactics')).to.throw("no 'T9'");
    const uncited = new AttackCatalogue(() => data({ groups: [record('G1', { references: [7] })] }));
    expect(() => uncited.items('groups')).to.throw("no reference 7, which 'G1' cites");
  });
});
