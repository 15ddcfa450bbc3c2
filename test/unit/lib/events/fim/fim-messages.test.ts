import { expect } from 'chai';
import fc from 'fast-check';
import { MAX_FIM_MESSAGE_BYTES } from '../../../../../daemons/syscheckd/message-limit.js';
import { fimEvent, scanMark, syncMessage } from '../../../../../lib/events/fim/fim-messages.js';
import { readEvent, readState } from '../../../../../lib/events/fim/read-entry.js';
import { AgentMessageError } from '../../../../../lib/events/sync/agent-message-error.js';
import { readJson } from '../../../../../lib/events/sync/read-json.js';
import { readSyncAnswer } from '../../../../../lib/events/sync/read-sync-answer.js';
import { ALL_CHECKS, CHECKS } from '../../../../../lib/fim/checks.js';
import { fileAttributes, type FileFacts } from '../../../../../lib/fim/entry-checksum.js';
import { toldChange } from '../../../../support/syscheckd/told-change.js';

const FACTS: FileFacts = {
  size: 12,
  mode: 0o644,
  uid: 0,
  gid: 0,
  userName: 'root',
  groupName: 'root',
  mtime: 1700000003,
  inode: '200003',
  hashes: {
    md5: '6f5902ac237024bdd0c176cb93063dc4',
    sha1: '22596363b3de40b06f981fb85d82312e8c0ed511',
    sha256: 'a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447',
  },
};
const ATTRIBUTES = fileAttributes(FACTS, ALL_CHECKS);
const STATE =
  '{"component":"fim_file","data":{"attributes":{"attributes":"",' +
  '"checksum":"f6c7f7cc067b6ba160ef275369210ef3d19a9f90","gid":"0","group_name":"root",' +
  '"hash_md5":"6f5902ac237024bdd0c176cb93063dc4","hash_sha1":"22596363b3de40b06f981fb85d82312e8c0ed511",' +
  '"hash_sha256":"a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447","inode":"200003",' +
  '"mtime":1700000003,"perm":"rw-r--r--","size":12,"type":"file","uid":"0","user_name":"root"},' +
  '"index":"/etc/d","timestamp":1700000900},"type":"state"}';

describe('messages of file integrity monitoring', () => {
  it('mark begin and end of a scan', () => {
    expect(scanMark('scan_start', 1700000000)).to.equal('{"type":"scan_start","data":{"timestamp":1700000000}}');
    expect(eventOf(scanMark('scan_end', 1700000060))).to.deep.equal({ kind: 'scan', mark: 'end', time: 1700000060 });
  });

  it('tell a modified file with its old attributes', () => {
    const before = fileAttributes({ ...FACTS, mtime: 1700000000 }, ALL_CHECKS);
    const text = fimEvent(
      {
        path: '/etc/demo',
        mode: 'realtime',
        type: 'modified',
        timestamp: 1700000600,
        attributes: ATTRIBUTES,
        before: { attributes: before, changed: ['mtime'] },
        contentChanges: '1c1\n< a\n---\n> b\n',
        tags: 'demo,web',
      },
      MAX_FIM_MESSAGE_BYTES,
    );
    expect(JSON.parse(text)).to.deep.equal({
      type: 'event',
      data: {
        path: '/etc/demo',
        version: '2.0',
        mode: 'realtime',
        type: 'modified',
        timestamp: 1700000600,
        attributes: { type: 'file', ...ATTRIBUTES },
        old_attributes: { type: 'file', ...before },
        changed_attributes: ['mtime'],
        content_changes: '1c1\n< a\n---\n> b\n',
        tags: 'demo,web',
      },
    });
    const read = eventOf(text);
    expect(read).to.deep.include({ kind: 'modified', component: 'fim_file', path: Buffer.from('/etc/demo') });
    expect(read)
      .to.have.property('columns')
      .that.includes({ mtime: 1700000003, size: 12, checksum: ATTRIBUTES.checksum });
  });

  it('cut a diff once more that escaping made too long', () => {
    const contentChanges = `1,400c1,400\n${'> "\\"\\"\u0001"\n'.repeat(6000)}`;
    const change = {
      path: '/etc/demo',
      mode: 'scheduled',
      type: 'modified',
      timestamp: 1,
      attributes: ATTRIBUTES,
    } as const;
    const text = fimEvent({ ...change, contentChanges }, MAX_FIM_MESSAGE_BYTES);
    expect(text.length)
      .to.be.at.most(MAX_FIM_MESSAGE_BYTES)
      .and.above(MAX_FIM_MESSAGE_BYTES - 100);
    expect(toldChange(text))
      .to.have.property('contentChanges')
      .that.matches(/\u0001"\nMore changes\.\.\.$/);
    expect(() => fimEvent({ ...change, contentChanges, tags: 'x'.repeat(70_000) }, MAX_FIM_MESSAGE_BYTES))
      .to.throw(AgentMessageError)
      .with.property('code', 'too_long');
  });

  it('carry names that are no UTF-8 byte by byte', () => {
    const path = '/tmp/\xff\xfe"\n';
    const text = fimEvent(
      { path, mode: 'scheduled', type: 'added', timestamp: 1, attributes: ATTRIBUTES },
      MAX_FIM_MESSAGE_BYTES,
    );
    expect(Buffer.from(text, 'latin1').includes(Buffer.from([0xff, 0xfe]))).to.equal(true);
    expect(eventOf(text)).to.deep.include({ kind: 'added', path: Buffer.from(path, 'latin1') });
  });

  it('synchronise as the specification shows', () => {
    const check = {
      begin: '/etc/a',
      checksum: 'ab679e59e3accb211660b7a1a7d97c688ce8fd3a',
      end: '/etc/e',
      id: 1700001000,
    };
    expect(syncMessage('fim_file', { type: 'integrity_check_global', check })).to.equal(
      '{"component":"fim_file","data":{"begin":"/etc/a","checksum":"ab679e59e3accb211660b7a1a7d97c688ce8fd3a",' +
        '"end":"/etc/e","id":1700001000},"type":"integrity_check_global"}',
    );
    expect(syncMessage('fim_file', { type: 'integrity_check_left', check: { ...check, tail: '/etc/f' } })).to.match(
      /"id":1700001000,"tail":"\/etc\/f"\},"type":"integrity_check_left"\}$/,
    );
    expect(syncMessage('fim_file', { type: 'integrity_clear', id: 7 })).to.equal(
      '{"component":"fim_file","data":{"id":7},"type":"integrity_clear"}',
    );
    const row = {
      key: '/etc/d',
      checksum: ATTRIBUTES.checksum,
      attributes: ATTRIBUTES,
      inode: FACTS.inode,
      lastEvent: 1700000900,
    };
    expect(syncMessage('fim_file', { type: 'state', row })).to.equal(STATE);
  });

  it('give every attribute in a state, whether or not it is watched', () => {
    const attributes = fileAttributes(FACTS, CHECKS.hash_md5);
    const row = { key: '/x', checksum: attributes.checksum, attributes, inode: FACTS.inode, lastEvent: 1 };
    const { data } = JSON.parse(syncMessage('fim_file', { type: 'state', row })) as { data: { attributes: object } };
    expect(data.attributes).to.include({ size: 0, perm: '', inode: '200003', hash_sha1: '', user_name: '' });
    expect(stateOf(syncMessage('fim_file', { type: 'state', row })))
      .to.have.property('columns')
      .that.includes({ size: 0, perm: '', inode: 200003, sha1: '' });
  });

  it('are read in any order of keys, with inodes as numbers too', () => {
    const text = STATE.replace('"inode":"200003"', '"inode":18446744073709551615').replace('"uid":"0"', '"uid":0');
    expect(stateOf(text)).to.have.nested.property('columns.inode', '18446744073709551615');
    expect(stateOf(text)).to.have.nested.property('columns.uid', '0');
    const path = '/x","inode":1234567890123456789,"';
    expect(stateOf(STATE.replace('"/etc/d"', JSON.stringify(path)))).to.deep.include({ path: Buffer.from(path) });
  });

  it('are refused when they have no key, no type or are no object', () => {
    for (const text of [
      '[]',
      '{"component":"fim_file"',
      '{"component":"fim_file","type":"state"}',
      STATE.replace('"index":"/etc/d"', '"index":""'),
      STATE.replace('"type":"file"', '"type":"folder"'),
      STATE.replace('"type":"file",', ''),
    ]) {
      expect(stateOf(text), text).to.equal(undefined);
    }
    expect(stateOf(STATE)).to.deep.include({ component: 'fim_file', path: Buffer.from('/etc/d') });
  });

  it('of the manager are refused with the name of the field', () => {
    const refusals: readonly [string, string, string, string | undefined][] = [
      ['maybe', '{}', 'bad_field', 'verb'],
      ['no_data', '{"begin":1}', 'bad_field', 'begin'],
      ['no_data', '{"begin":"a","end":"b","id":"x"}', 'bad_field', 'id'],
      ['no_data', '[]', 'malformed', undefined],
      ['no_data', '{"begin"', 'malformed', undefined],
    ];
    for (const [verb, text, code, field] of refusals) {
      expect(() => readSyncAnswer(verb, text), text)
        .to.throw(AgentMessageError)
        .that.includes({ code, field });
    }
    expect(readSyncAnswer('checksum_fail', '{"id":"7","end":"/b","more":1,"begin":"/a"}')).to.deep.equal({
      verb: 'checksum_fail',
      begin: '/a',
      end: '/b',
      id: 7,
    });
  });

  it('never fail otherwise, whatever comes', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .tuple(fc.nat(STATE.length), fc.nat(20), fc.string({ maxLength: 5 }))
        .map(([at, cut, put]) => STATE.slice(0, at) + put + STATE.slice(at + cut)),
      fc
        .record({ component: fc.constant('fim_file'), type: fc.constantFrom('state', 'event'), data: fc.object() })
        .map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(anything, (text) => {
        stateOf(text);
        eventOf(text);
        try {
          readSyncAnswer('no_data', text);
        } catch (error) {
          expect(error).to.be.instanceOf(AgentMessageError);
        }
      }),
    );
  });
});

/** As svc-db reads it. @param text byte string */
function eventOf(text: string) {
  const message = readJson(Buffer.from(text, 'latin1'));
  return message && readEvent(message, 0);
}

/** As svc-db reads it. @param text byte string */
function stateOf(text: string) {
  const message = readJson(Buffer.from(text, 'latin1'));
  return message && readState(message, 0);
}
