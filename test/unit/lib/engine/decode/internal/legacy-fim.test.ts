import { expect } from 'chai';
import fc from 'fast-check';
import { AgentMemory } from '../../../../../../lib/engine/agents/agent-memory.js';
import { FimDecoder } from '../../../../../../lib/engine/decode/internal/fim-decoder.js';
import { EngineEvent } from '../../../../../../lib/engine/event.js';
import { readLocation } from '../../../../../../lib/engine/predecode/read-location.js';
import { isSameSum, readLegacyFim, readLegacySum } from '../../../../../../lib/events/fim/legacy-fim.js';
import { ctime } from '../../../../../../lib/time/ctime.js';
import { RecordingDiagnostics } from '../../../../../support/recording-diagnostics.js';

const MD5 = ['a'.repeat(32), 'b'.repeat(32)] as const;
const SHA1 = ['c'.repeat(40), 'd'.repeat(40)] as const;
const OLD = `12:33188:0:0:${MD5[0]}:${SHA1[0]}:root:root:1700000000:131075`;
const NEW = `13:35309:1000:0:${MD5[1]}:${SHA1[1]}:ana:root:1700000500:131075`;

describe('File integrity events of agents before 3.11', () => {
  let memory: AgentMemory;
  let diagnostics: RecordingDiagnostics;
  let decoder: FimDecoder;

  const open = () => new FimDecoder((name) => ({ id: 1, name, accumulate: false }), memory, diagnostics);
  beforeEach(() => {
    memory = new AgentMemory();
    diagnostics = new RecordingDiagnostics();
    decoder = open();
  });

  const decode = (message: string, agent = '001') => {
    const location = `[${agent}] (web01) any->syscheck`;
    const event = new EngineEvent({ ...readLocation(location), queue: '8', message, receivedAt: 1_700_000_000_500 });
    const outcome = decoder.decode(event);
    const fields = Object.fromEntries(event.fieldNames.map((name, index) => [name, event.fieldValues[index]]));
    return { outcome, event, fields };
  };

  it('tells nothing while the agent tells what is there, and new files after that', () => {
    expect(decode('fim-db-start-first-scan').outcome).to.equal('done');
    expect(decode(`${OLD} /etc/demo`).outcome).to.equal('done');
    expect(decode('fim-db-end-first-scan').outcome).to.equal('done');
    const { outcome, event, fields } = decode(`${OLD} /etc/new one`);
    expect(outcome).to.equal('rules');
    expect(event.decoder?.name).to.equal('syscheck_new_entry');
    expect(event.fullLog).to.equal("File '/etc/new one' was added.\n");
    expect(fields).to.include({ file: '/etc/new one', size: '12', perm: '100644', md5: MD5[0], event_type: 'added' });
    expect(decode(`${OLD} /etc/other`, '002').outcome).to.equal('done');
  });

  it('compares with what was told before, over a checkpoint, and says what has changed', () => {
    decode(`${OLD} /etc/demo`);
    expect(decode(`${OLD}:${'e'.repeat(64)} /etc/demo`).outcome).to.equal('done');
    const { agents } = memory.snapshot();
    expect(agents[0]).to.include({ hasScanned: false });
    const snapshot = memory.snapshot();
    memory = new AgentMemory();
    memory.restore(snapshot);
    decoder = open();
    const message = `${NEW}!0:root:0:root:/usr/bin/vi:1000:ana:0:root:-:812:web,db:/real\\ path /etc/demo\n1c1\n< a\n`;
    const { outcome, event, fields } = decode(message);
    expect(outcome).to.equal('rules');
    expect(event.decoder?.name).to.equal('syscheck_integrity_changed');
    expect(event.fullLog).to.equal(
      [
        "File '/etc/demo' checksum changed.",
        "Size changed from '12' to '13'",
        "Permissions changed from 'rw-r--r--' to 'rwsr-xr-x'",
        "Ownership was 'root (0)', now it is 'ana (1000)'",
        `Old modification time was: '${ctime('1700000000')}', now it is '${ctime('1700000500')}'`,
        `Old md5sum was: '${MD5[0]}'`,
        `New md5sum is : '${MD5[1]}'`,
        `Old sha1sum was: '${SHA1[0]}'`,
        `New sha1sum is : '${SHA1[1]}'`,
        '',
      ].join('\n'),
    );
    expect(fields).to.include({
      size_before: '12',
      perm_before: '100644',
      perm: '104755',
      changed_fields: 'size,permission,uid,md5,sha1,user_name,mtime',
      changed_content: '1c1\n< a\n',
      process_name: '/usr/bin/vi',
      process_id: '812',
      tag: 'web,db',
      symbolic_path: '/real path',
      event_type: 'modified',
    });
    expect(fields).not.to.have.any.keys('ppid', 'silent');
  });

  it('tells what is deleted, and stores in silence what is to be stored so', () => {
    decode(`${OLD} /etc/demo`);
    const silent = `${NEW}!:::::::::::::+ /etc/demo`;
    expect(decode(silent).outcome).to.equal('done');
    expect(memory.file('001', '/etc/demo')).to.equal(NEW);
    const { outcome, event, fields } = decode('-1 /etc/demo');
    expect(outcome).to.equal('rules');
    expect(event.decoder?.name).to.equal('syscheck_deleted');
    expect(event.fullLog).to.equal("File '/etc/demo' was deleted.\n");
    expect(fields).to.include({ md5: MD5[1], event_type: 'deleted' });
  });

  it('tells no deletion of what is not known, or is deleted already', () => {
    expect(decode('-1 /etc/never').outcome).to.equal('done');
    decode(`${OLD} /etc/demo`);
    expect(decode('-1 /etc/demo').outcome).to.equal('rules');
    expect(decode('-1 /etc/demo').outcome).to.equal('done');
    expect(decode('-1 HKEY_LOCAL_MACHINE\\Software\\Demo').outcome).to.equal('done');
    expect(diagnostics.lines).to.deep.equal([]);
  });

  it('tells a deletion once where more files were told than are remembered', () => {
    decode('syscheck-db-completed');
    for (let number = 0; number < 20_001; number += 1) memory.setFile('001', `/srv/${String(number)}`, OLD);
    expect(memory.file('001', '/srv/0'), 'forgotten').to.equal(undefined);
    expect(decode('-1 /srv/0').event.decoder?.name).to.equal('syscheck_deleted');
    expect(decode('-1 /srv/0').outcome).to.equal('done');
    expect(decode(`${OLD} /srv/0`).event.decoder?.name).to.equal('syscheck_new_entry');
    expect(decode('-1 /srv/0').event.decoder?.name).to.equal('syscheck_deleted');
  });

  describe('of OSSEC-HIDS 4.x agents', () => {
    const SHA256 = ['e'.repeat(64), 'f'.repeat(64)] as const;
    const sum = (sha256: string, { md5 = MD5[0], size = 12, uid = '0' } = {}) =>
      `${String(size)}:33188:${uid}:0:${md5}:${SHA1[0]}:${sha256}`;

    it('reads sums of exactly 7 columns, the last of which is SHA-256', () => {
      for (const uid of ['1000', 'S-1-5-32-544']) {
        decode(`${sum(SHA256[0])} /etc/${uid}`);
        const { event, fields } = decode(`${sum(SHA256[1], { uid })} /etc/${uid}`);
        expect(fields).to.include({ uid, sha256: SHA256[1], sha256_before: SHA256[0], changed_fields: 'uid,sha256' });
        expect(fields).not.to.have.any.keys('uname', 'uname_before');
        expect(event.fullLog).to.equal(
          [
            `File '/etc/${uid}' checksum changed.`,
            `Ownership was '0', now it is '${uid}'`,
            `Old sha256sum was: '${SHA256[0]}'`,
            `New sha256sum is : '${SHA256[1]}'`,
            '',
          ].join('\n'),
        );
      }
    });

    it('takes a sum that is switched off for no value and no change', () => {
      const tell = (sha256: string, more = {}) => decode(`${sum(sha256, more)} /etc/demo`);
      for (const sha256 of ['xxx', SHA256[0], 'xxx', SHA256[0]]) expect(tell(sha256).outcome).to.equal('done');
      const { fields, event } = tell('xxx', { size: 13 });
      expect(fields).to.include({ size: '13', size_before: '12', changed_fields: 'size' });
      expect(fields).not.to.have.any.keys('sha256', 'sha256_before');
      expect(event.fullLog).to.equal("File '/etc/demo' checksum changed.\nSize changed from '12' to '13'\n");
      expect(JSON.stringify([...tell('xxx', { size: 14, md5: 'xxx' }).event.fieldValues])).not.to.contain('xxx');
    });

    it('compares with a sum that was switched on meanwhile', () => {
      const tell = (sha256: string) => decode(`12:33188:0:0:xxx:xxx:${sha256} /etc/demo`);
      expect(tell('xxx').outcome).to.equal('done');
      expect(tell(SHA256[0]).outcome).to.equal('done');
      expect(tell(SHA256[1]).fields).to.include({ changed_fields: 'sha256' });
      // The file was told before the agent was updated.
      decode(`12:33188:0:0:${MD5[0]}:${SHA1[0]} /etc/old`);
      expect(decode(`${sum(SHA256[0])} /etc/old`).outcome).to.equal('done');
      expect(decode(`${sum(SHA256[1])} /etc/old`).outcome).to.equal('rules');
    });

    it('tells changes of registry keys as such', () => {
      for (const [index, path] of ['HKEY_LOCAL_MACHINE\\Software', '[x64] HKEY_USERS\\.DEFAULT'].entries()) {
        if (index === 0) decode('syscheck-db-completed');
        const tell = (text: string) => {
          const { event, fields } = decode(`${text} ${path}`);
          expect(fields).to.include({ file: path, entry_type: 'registry_key' });
          return event.decoder?.name;
        };
        expect(tell(sum('xxx'))).to.equal('syscheck_registry_key_added');
        expect(tell(sum('xxx', { md5: MD5[1] }))).to.equal('syscheck_registry_key_modified');
        expect(tell('-1')).to.equal('syscheck_registry_key_deleted');
      }
    });
  });

  it('reports what is neither form', () => {
    for (const text of ['', 'nothing', '1:2:3 /etc/short', `${OLD} `, ` /etc/demo`, `${OLD} /${'x'.repeat(5000)}`]) {
      expect(decode(text).outcome, text).to.equal('done');
    }
    expect(diagnostics.lines).to.have.length(6);
    expect(memory.snapshot().agents).to.be.empty;
  });

  it('reads any columns back, whatever is escaped in them', () => {
    const column = fc.string({ maxLength: 8 }).filter((text) => !text.includes('\\'));
    const escape = (text: string) => text.replace(/[ !:]/g, (character) => `\\${character}`);
    fc.assert(
      fc.property(fc.array(column, { minLength: 6, maxLength: 12 }), column, (columns, name) => {
        fc.pre(!columns[0]?.startsWith('-1') && !/\n|\0/.test(name) && columns.join('') !== '');
        const sum = columns.map(escape).join(':');
        const read = readLegacyFim(`${sum}!${escape('a b')} /${name}`);
        expect(read).to.deep.include({ kind: 'entry', path: `/${name}`, sum, extra: { user_id: 'a b' } });
        const { md5, size } = readLegacySum(sum);
        expect([size ?? '', md5 ?? '']).to.deep.equal([columns[0], columns[4]]);
        expect(isSameSum(sum, `${sum}:more`)).to.equal(true);
        expect(isSameSum(sum, `x${sum}`)).to.equal(false);
      }),
    );
  });
});
