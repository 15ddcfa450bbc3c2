import { expect } from 'chai';
import fc from 'fast-check';
import { AgentMemory } from '../../../../../../lib/engine/agents/agent-memory.js';
import type { InternalOutcome } from '../../../../../../lib/engine/decode/internal/internal-decoder.js';
import { InternalDecoders } from '../../../../../../lib/engine/decode/internal/internal-decoders.js';
import { JsonPlugin } from '../../../../../../lib/engine/decode/plugins/json-plugin.js';
import { EngineEvent } from '../../../../../../lib/engine/event.js';
import { INTERNAL_DECODER_NAMES } from '../../../../../../lib/engine/load/internal-decoder-names.js';
import { readLocation } from '../../../../../../lib/engine/predecode/read-location.js';
import { RecordingDiagnostics } from '../../../../../support/recording-diagnostics.js';

class Bench {
  readonly memory = new AgentMemory();
  readonly diagnostics = new RecordingDiagnostics();
  /** Requests for results since the last event. */
  requests: string[] = [];
  readonly #decoders: InternalDecoders;

  constructor() {
    this.#decoders = new InternalDecoders({
      set: { ids: new Map(INTERNAL_DECODER_NAMES.map((name, i) => [name, i + 1])) },
      json: new JsonPlugin(256, this.diagnostics),
      memory: this.memory,
      requestScaDump: (agentId, policyId, first) => {
        this.requests.push(`${agentId} ${policyId} ${first ? '1' : '0'}`);
      },
      diagnostics: this.diagnostics,
    });
  }

  /** Outcome and event. */
  decode(
    queue: string,
    message: string,
    location = '[001] (web01) any->x',
  ): [InternalOutcome | undefined, EngineEvent] {
    this.requests = [];
    const event = new EngineEvent({ ...readLocation(location), queue, message, receivedAt: 1_700_000_000_500 });
    return [this.#decoders.decode(event), event];
  }

  /** Decoder and fields of an event for the rules; what `decode` said otherwise. */
  fields(queue: string, message: unknown, location?: string): unknown {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    const [outcome, event] = this.decode(queue, text, location);
    if (outcome !== 'rules') {
      return outcome;
    }
    expect(event.category).to.equal('ossec');
    return [event.decoder?.name, ...event.fieldNames.map((name, i) => `${name}=${event.fieldValues[i]!}`)];
  }
}

describe('internal decoders', () => {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench();
  });

  it('leave other queues alone, and know two that hold no events', () => {
    expect(bench.decode('1', 'x')[0]).to.equal(undefined);
    expect(bench.decode('5', '{}')[0]).to.equal('done');
    expect(bench.decode('u', '{}')[0]).to.equal('done');
    expect(bench.fields('e', '{"type":"scan_info"}')).to.deep.equal(['ciscat']);
  });

  describe('file integrity', () => {
    const OLD = {
      type: 'file', size: 12, perm: 'rw-r--r--', uid: '0', gid: '0', user_name: 'root', group_name: 'root', inode: '131075',
      mtime: 1700000000, hash_md5: '6f5902ac237024bdd0c176cb93063dc4', hash_sha1: '22596363b3de40b06f981fb85d82312e8c0ed511',
      hash_sha256: 'a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447', checksum: 'e1',
    }; // oxfmt-ignore
    const NEW = {
      ...OLD, size: 13, mtime: 1700000500, hash_md5: 'c897d1410af8f2c74fba11b1db511e9e',
      hash_sha1: 'f951b101989b2c3b7471710b4e78fc4dbdfa0ca6',
      hash_sha256: 'ecf701f727d9e2d77c4aa49ac6fbbcc997278aca010bddeeb961c10cf54d435a', checksum: '0f',
    }; // oxfmt-ignore
    const MODIFIED = {
      path: '/etc/demo', version: 2, mode: 'scheduled', type: 'modified', timestamp: 1700000600, attributes: NEW,
      old_attributes: OLD, changed_attributes: ['size', 'mtime', 'md5', 'sha1', 'sha256'], content_changes: '1c1\n< a\n', tags: 'demo,web',
    }; // oxfmt-ignore
    const event = (data: object): string => JSON.stringify({ type: 'event', data });

    it('writes the text of a change exactly', () => {
      const [outcome, decoded] = bench.decode('8', event(MODIFIED));
      expect(outcome).to.equal('rules');
      expect(decoded.fullLog).to.equal(
        [
          "File '/etc/demo' modified",
          'Mode: scheduled',
          'Changed attributes: size,mtime,md5,sha1,sha256',
          "Size changed from '12' to '13'",
          "Old modification time was: '1700000000', now it is '1700000500'",
          "Old md5sum was: '6f5902ac237024bdd0c176cb93063dc4'",
          "New md5sum is : 'c897d1410af8f2c74fba11b1db511e9e'",
          "Old sha1sum was: '22596363b3de40b06f981fb85d82312e8c0ed511'",
          "New sha1sum is : 'f951b101989b2c3b7471710b4e78fc4dbdfa0ca6'",
          "Old sha256sum was: 'a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447'",
          "New sha256sum is : 'ecf701f727d9e2d77c4aa49ac6fbbcc997278aca010bddeeb961c10cf54d435a'",
          '',
        ].join('\n'),
      );
      expect(decoded.log).to.equal(decoded.fullLog);
    });

    it('gives fields', () => {
      const fields = bench.fields('8', event(MODIFIED)) as string[];
      expect(fields).to.include.members([
        'syscheck_integrity_changed', 'file=/etc/demo', 'mode=scheduled', 'size=13', 'size_before=12', 'mtime=1700000500',
        'inode=131075', 'inode_before=131075', 'md5=c897d1410af8f2c74fba11b1db511e9e', 'uname=root', 'changed_content=1c1\n< a\n',
        'changed_fields=size,mtime,md5,sha1,sha256', 'tag=demo,web', 'entry_type=file', 'event_type=modified',
      ]); // oxfmt-ignore
    });

    it('tells additions and deletions, files and registry apart', () => {
      const added = {
        ...MODIFIED,
        type: 'added',
        mode: 'realtime',
        old_attributes: undefined,
        changed_attributes: undefined,
      };
      const [, decoded] = bench.decode('8', event(added));
      expect(decoded.fullLog).to.equal("File '/etc/demo' added\nMode: realtime\n");
      expect(decoded.decoder?.name).to.equal('syscheck_new_entry');
      expect(bench.fields('8', event({ ...added, type: 'deleted' }))).to.include('syscheck_deleted');
      const key = { ...added, version: 3, index: 'aa', arch: '[x64]', path: 'HKLM\\A', attributes: { type: 'registry_value', value_type: 'REG_SZ' }, value_name: 'v' }; // oxfmt-ignore
      const [, value] = bench.decode('8', event(key));
      expect(value.fullLog).to.equal("Registry Value '[x64] HKLM\\A\\v' added\nMode: realtime\n");
      expect(value.decoder?.name).to.equal('syscheck_registry_value_added');
      expect(bench.fields('8', event({ ...key, type: 'deleted' }))).to.include('syscheck_registry_value_deleted');
      expect(bench.fields('8', event({ ...key, index: undefined }))).to.equal('done');
    });

    it('writes Windows permissions as text, and shortens long lines and paths', () => {
      const perm = (right: string): object => ({
        'S-1-5-32-544': { name: 'Administrators', allowed: ['delete', right], denied: ['write_dac'] },
        'S-1-1-0': { name: 'Everyone', allowed: ['read_data'] },
      });
      const change = {
        ...MODIFIED,
        attributes: { ...NEW, perm: perm('a'.repeat(200)) },
        old_attributes: { ...OLD, perm: perm('b') },
      };
      const fields = bench.fields('8', event({ ...change, path: `/${'p'.repeat(1000)}` })) as string[];
      expect(fields).to.include(
        'perm_before=Administrators (allowed): DELETE|B, Administrators (denied): WRITE_DAC, Everyone (allowed): READ_DATA',
      );
      const [, decoded] = bench.decode('8', event({ ...change, path: `/${'p'.repeat(1000)}` }));
      expect(decoded.fullLog).to.contain('\nPermissions changed.\n');
      expect(decoded.fullLog.split("'")[1]).to.have.length(719 + 7 + 30);
    });

    it('takes the marks of scans for no events', () => {
      expect(bench.fields('8', { type: 'scan_start', data: { timestamp: 1700000000 } })).to.equal('done');
      expect(bench.fields('8', { type: 'scan_end', data: { timestamp: 1700000060 } })).to.equal('done');
      expect(bench.diagnostics.lines).to.be.empty;
    });

    it('reports and drops what is wrong', () => {
      for (const text of [
        '{bad',
        '{"type":"x","data":{}}',
        '{"type":"event"}',
        event({ ...MODIFIED, type: 'x' }),
        '10:1:0:0:a /etc/x',
      ]) {
        expect(bench.fields('8', text)).to.equal('done');
      }
      expect(bench.diagnostics.lines).to.deep.equal([
        'error Malformed FIM JSON event',
        'error Invalid FIM event',
        'error Invalid FIM event',
        `error Can't generate fim alert for event: '${event({ ...MODIFIED, type: 'x' })}'`,
        "error Invalid FIM event of agent '001': neither JSON nor the text of older agents",
      ]);
    });
  });

  describe('rootcheck', () => {
    const rows: [string, string, string?][] = [
      ['Starting rootcheck scan.', 'Starting rootcheck scan.'],
      ['System Audit: SSH Hardening - 1: Port 22 {PCI_DSS: 2.2.4}. File: /etc/ssh/sshd_config. Reference: 1 .', 'SSH Hardening - 1: Port 22', '/etc/ssh/sshd_config'],
      ['System Audit: Web vulnerability. File: /var/www/x.php.', 'Web vulnerability.', '/var/www/x.php'],
      ["File '/tmp/x' is owned by root and has written permissions to anyone.", 'File is owned by root and has written permissions to anyone.', '/tmp/x'],
      ["Trojaned version of file '/bin/diff' detected. Signature used: 'bash' (Generic).", 'Trojaned version of file detected.', '/bin/diff'],
      ["Interface 'eth0' in promiscuous mode.", "Interface 'eth0' in promiscuous mode."],
    ]; // oxfmt-ignore
    for (const [text, title, file] of rows) {
      it(`reads ${text}`, () => {
        const fields = ['rootcheck', `title=${title}`, ...(file === undefined ? [] : [`file=${file}`])];
        expect(bench.fields('9', text)).to.deep.equal(fields);
      });
    }

    it('knows what an agent sent before', () => {
      const first = (location: string): boolean => bench.decode('9', 'text', location)[1].firstSeen;
      expect([first('[001] x'), first('[001] x'), first('[002] x'), first('x')]).to.deep.equal([
        true,
        false,
        true,
        true,
      ]);
      bench.memory.clearRootcheck('001');
      expect(first('[001] x')).to.equal(true);
    });
  });

  describe('host information', () => {
    it('is an event when it is new or changed', () => {
      const text = (ports: string): string => `Host: 10.0.0.1 (db), open ports: ${ports}`;
      expect(bench.fields('3', text('22 (tcp)'))).to.deep.equal(['hostinfo_new']);
      expect(bench.fields('3', text('22 (tcp)'))).to.equal('done');
      expect(bench.fields('3', text('23 (tcp)'))).to.deep.equal(['hostinfo_modified']);
      expect(bench.fields('3', 'Host 10.0.0.1')).to.equal('done');
    });
  });

  describe('inventory', () => {
    const delta = (type: string, data: object): object => ({ data, operation: 'INSERTED', type });
    const location = '[001] (web01) any->syscollector';

    it('gives a field for every column', () => {
      const row = {
        name: 'nginx',
        version: '1.24',
        groups: 'httpd',
        size: 1024,
        checksum: 'c',
        item_id: 'i',
        scan_time: 's',
      };
      expect(bench.fields('d', delta('dbsync_packages', row), location)).to.deep.equal([
        'syscollector', 'type=dbsync_packages', 'operation_type=INSERTED', 'program.format=', 'program.name=nginx',
        'program.priority=', 'program.section=httpd', 'program.size=1024', 'program.vendor=', 'program.install_time=',
        'program.version=1.24', 'program.architecture=', 'program.multiarch=', 'program.source=', 'program.description=',
        'program.location=',
      ]); // oxfmt-ignore
      const hardware = bench.fields(
        'd',
        delta('dbsync_hwinfo', { board_serial: 'S', cpu_mhz: 2400.5 }),
        'syscollector',
      );
      expect(hardware).to.include.members(['hardware.serial=S', 'hardware.cpu_mhz=2400.500000']);
      const system = bench.fields(
        'd',
        delta('dbsync_osinfo', { os_name: 'L', hostname: 'h', os_release: 'r', os_display_version: 'd' }),
        location,
      );
      expect(system).to.include.members(['os.name=L', 'os.hostname=h', 'os.os_release=r', 'os.display_version=d']);
      expect(bench.fields('d', delta('dbsync_hotfixes', { hotfix: 'KB1' }), location)).to.include('hotfix=KB1');
    });

    it('names the protocol of an address', () => {
      expect(bench.fields('d', delta('dbsync_network_address', { proto: 0 }), location)).to.include(
        'netinfo.addr.proto=ipv4',
      );
      expect(bench.fields('d', delta('dbsync_network_address', { proto: 1 }), location)).to.include(
        'netinfo.addr.proto=ipv6',
      );
    });

    it('drops what does not belong', () => {
      expect(bench.fields('d', delta('dbsync_packages', {}), '[001] (web01) any->other')).to.equal('done');
      expect(bench.fields('d', delta('program', {}), location)).to.equal('done');
      expect(bench.fields('d', delta('dbsync___proto__', {}), location)).to.equal('done');
      expect(bench.fields('d', '{', location)).to.equal('done');
      expect(bench.fields('d', { type: 'dbsync_ports' }, location)).to.equal('done');
    });
  });

  describe('policy scans', () => {
    const check = (id: number, result: string | undefined, scan = 7): object => ({
      type: 'check', id: scan, policy: 'Demo', policy_id: 'demo',
      check: { id, title: 'T', compliance: { cis: '5.2' }, rules: ['f:/x', 'not p:y'], file: '/a,/b', ...(result === undefined ? {} : { result }) },
    }); // oxfmt-ignore
    const HASH = '52c366b6850b45834ab9ea233b577bda47adf3ad554b53772eeb38eaba59645c';
    const summary = (more: object = {}): object => ({
      type: 'summary', scan_id: 7, name: 'Demo', policy_id: 'demo', file: 'demo.yml', description: 'Text', references: 'R', passed: 2,
      failed: 1, invalid: 1, total_checks: 4, score: 66.66, start_time: 1, end_time: 2, hash: HASH, hash_file: 'ff', ...more,
    }); // oxfmt-ignore

    it('gives an event for a new check and for a changed result', () => {
      const fields = [
        'sca', 'sca.type=check', 'sca.scan_id=7', 'sca.policy=Demo', 'sca.check.id=1', 'sca.check.title=T',
        'sca.check.compliance.cis=5.2', 'sca.check.file=["/a","/b"]', 'sca.check.result=failed',
      ]; // oxfmt-ignore
      expect(bench.fields('p', check(1, 'failed'))).to.deep.equal(fields);
      expect(bench.fields('p', check(1, 'failed', 8))).to.equal('done');
      const changed = bench.fields('p', check(1, undefined, 9)) as string[];
      expect(changed.slice(-2)).to.deep.equal(['sca.check.result=not applicable', 'sca.check.previous_result=failed']);
    });

    it('hashes results as agents do', () => {
      for (const [id, result] of [
        [4, 'passed'],
        [1, 'passed'],
        [3, undefined],
        [2, 'failed'],
      ] as const) {
        // oxfmt-ignore
        bench.fields('p', check(id, result));
      }
      expect(bench.memory.resultsHash('001', 'demo')).to.equal(HASH);
    });

    it('gives an event for a summary that changed', () => {
      const first = bench.fields('p', summary());
      expect(first).to.deep.equal([
        'sca', 'sca.type=summary', 'sca.scan_id=7', 'sca.policy=Demo', 'sca.description=Text', 'sca.policy_id=demo', 'sca.passed=2',
        'sca.failed=1', 'sca.invalid=1', 'sca.total_checks=4', 'sca.score=66', 'sca.file=demo.yml',
      ]); // oxfmt-ignore
      expect(bench.requests).to.deep.equal(['001 demo 0']);
      expect(bench.fields('p', summary())).to.equal('done');
      expect(bench.requests).to.deep.equal(['001 demo 0']);
      expect(bench.fields('p', summary({ hash: 'other' }))).to.include('sca.type=summary');
      expect(bench.fields('p', summary({ hash: 'third', first_scan: 1 }))).to.equal('done');
      expect(bench.fields('p', summary({ hash: 'third', force_alert: '1' }))).to.include('sca.type=summary');
    });

    it('asks for everything in a first scan and when the policy changed', () => {
      expect(bench.fields('p', summary({ first_scan: 1 }))).to.equal('done');
      expect(bench.requests).to.deep.equal(['001 demo 1']);
      bench.fields('p', check(1, 'passed'));
      bench.fields('p', summary({ hash_file: 'new' }));
      expect(bench.requests).to.deep.equal(['001 demo 1']);
      expect(bench.memory.check('001', 1)).to.equal(undefined);
    });

    it('cleans up at the end of a dump and by the list of policies', () => {
      bench.fields('p', summary());
      bench.fields('p', check(1, 'passed', 7));
      bench.fields('p', check(2, 'passed', 6));
      bench.fields('p', { type: 'dump_end', policy_id: 'demo', elements_sent: 1, scan_id: 7 });
      expect(bench.requests).to.deep.equal(['001 demo 0']);
      expect(bench.memory.check('001', 2)).to.equal(undefined);
      bench.fields('p', { type: 'policies', policies: ['demo'] });
      expect(bench.memory.policies('001')).to.deep.equal(['demo']);
      expect(bench.memory.check('001', 1)?.result).to.equal('passed');
      bench.fields('p', { type: 'policies', policies: [] });
      expect(bench.requests).to.be.empty;
      expect(bench.memory.policies('001')).to.be.empty;
      expect(bench.memory.check('001', 1)).to.equal(undefined);
    });

    it('does not ask for ever for what never comes right', () => {
      const asked: string[] = [];
      bench.fields('p', summary());
      for (let round = 0; round < 6; round += 1) {
        bench.fields('p', check(1, 'passed', 7));
        bench.fields('p', { type: 'dump_end', policy_id: 'demo', elements_sent: 1, scan_id: 7 });
        asked.push(...bench.requests);
      }
      expect(asked).to.deep.equal(['001 demo 0', '001 demo 0', '001 demo 0']);
      bench.fields('p', summary());
      expect(bench.requests, 'the next scan').to.deep.equal(['001 demo 0']);
    });

    it('reports what lacks a member', () => {
      for (const message of [
        '{',
        {},
        { type: 'check' },
        summary({ hash: undefined }),
        summary({ scan_id: -1 }),
        { type: 'policies' },
        { type: 'dump_end' },
      ]) {
        expect(bench.fields('p', message)).to.equal('done');
      }
      expect(bench.diagnostics.lines).to.have.length(7);
    });

    it('remembers no texts that are too long, which are told', () => {
      for (const message of [
        check(1, 'x'.repeat(65)),
        { ...(check(1, 'passed') as object), policy_id: 'x'.repeat(256) },
        summary({ policy_id: 'x'.repeat(256) }),
        summary({ hash: 'x'.repeat(129) }),
        summary({ hash_file: 'x'.repeat(129) }),
      ]) {
        expect(bench.fields('p', message)).to.equal('done');
      }
      expect(bench.diagnostics.lines).to.have.length(5);
      expect(bench.diagnostics.lines[0]).to.match(/agent '001' has an id, a result or a hash that is too long/);
      expect(bench.memory.check('001', 1)).to.equal(undefined);
      expect(bench.memory.policies('001')).to.deep.equal([]);
      expect(bench.fields('p', check(1, 'x'.repeat(64)))).to.include('sca.type=check');
      expect(bench.fields('p', summary({ policy_id: 'x'.repeat(255) }))).to.include('sca.type=summary');
    });
  });

  describe('the Windows event channel', () => {
    const XML =
      "<Event xmlns='http://x'><System><Provider Name='Sec' Guid='{1}'/><EventID>4719</EventID><Version>0</Version>" +
      "<Level>0</Level><Keywords>0x8020000000000000</Keywords><TimeCreated SystemTime='2024-01-01T00:00:00Z'/><Correlation ActivityID='x'/>" +
      "<Execution ProcessID='4' ThreadID='8'/><Channel>Security</Channel><Computer>PC</Computer><Security/></System>" +
      "<EventData><Data Name='SubjectUserName'>C:\\Win\u00e0</Data><Data Name='Empty'></Data><Data Name='Dash'>-</Data><Data Name='Null'>(NULL)</Data>" +
      "<Data Name='CategoryId'>%%8273</Data><Data Name='SubcategoryId'>%%12544</Data><Data Name='AuditPolicyChanges'>%%8449, %%8451</Data>" +
      '<Data>one </Data><Data>two</Data><Binary>00</Binary></EventData></Event>';
    const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

    it('becomes fields', () => {
      expect(bench.fields('f', bytes(JSON.stringify({ Event: XML, Message: 'It\r\nhappened "so"' })))).to.deep.equal([
        'windows_eventchannel', 'win.system.providerName=Sec', 'win.system.providerGuid={1}', 'win.system.eventID=4719',
        'win.system.version=0', 'win.system.level=0', 'win.system.keywords=0x8020000000000000',
        'win.system.systemTime=2024-01-01T00:00:00Z', 'win.system.processID=4', 'win.system.threadID=8', 'win.system.channel=Security',
        'win.system.computer=PC', 'win.system.severityValue=AUDIT_SUCCESS', 'win.system.message="It\r\nhappened "so""',
        bytes('win.eventdata.subjectUserName=C:\\\\Win\u00e0'), 'win.eventdata.categoryId=%%8273', 'win.eventdata.subcategoryId=%%12544',
        'win.eventdata.auditPolicyChangesId=%%8449, %%8451', 'win.eventdata.binary=00', 'win.eventdata.data=one , two',
        'win.eventdata.category=Logon/Logoff', 'win.eventdata.subcategory=Logon', 'win.eventdata.auditPolicyChanges=Success added, Failure added',
      ]); // oxfmt-ignore
    });

    it('puts the JSON in place of the message', () => {
      const xml =
        '<Event><System><EventID>1</EventID></System><UserData><Info><Name>n</Name></Info></UserData></Event>';
      const [, event] = bench.decode('f', JSON.stringify({ Event: xml, Message: 'm' }));
      expect(event.fullLog).to.equal('{"win":{"system":{"eventID":"1","message":"\\"m\\""},"info":{"name":"n"}}}');
      expect(event.log).to.equal(event.fullLog);
    });

    it('judges severity', () => {
      const value = (level: string, keywords: string): unknown =>
        (
          bench.fields(
            'f',
            JSON.stringify({
              Event: `<E><System><Level>${level}</Level><Keywords>${keywords}</Keywords></System></E>`,
            }),
          ) as string[]
        ).at(-1);
      expect(['0', '1', '2', '3', '4', '5', '6'].map((level) => value(level, '0x8010000000000000'))).to.deep.equal(
        ['AUDIT_FAILURE', 'CRITICAL', 'ERROR', 'WARNING', 'INFORMATION', 'VERBOSE', 'UNKNOWN'].map(
          (s) => `win.system.severityValue=${s}`,
        ),
      );
      expect(value('0', 'no number')).to.equal('win.system.severityValue=UNKNOWN');
    });

    it('goes on with the message when the XML cannot be read, warning once', () => {
      for (let i = 0; i < 2; i += 1) {
        expect(bench.fields('f', '{"Event":"<a","Message":"m"}')).to.deep.equal([
          'windows_eventchannel',
          'win.system.message="m"',
        ]);
      }
      expect(bench.diagnostics.lines.map((line) => line.split(':')[0])).to.deep.equal([
        'warn Could not read XML string',
        'debug Could not read XML string',
      ]);
      expect(bench.fields('f', '{"Message":"m"}')).to.equal('done');
      expect(bench.fields('f', 'x')).to.equal('done');
    });
  });

  it('never fail, and remember the same after a restart', () => {
    const value = fc.constantFrom(
      '{',
      '}',
      '"type":',
      '"check"',
      '"event"',
      '"data":',
      '"attributes":',
      '{"type":"file"}',
      ',',
      '"path":"x"',
      '1',
      '[',
      ']',
      '"Event":"<a>',
      '</a>"',
      'Host: 1 (x), y',
      "File '",
      '{"type":"check","id":1,"policy":"p","policy_id":"q","check":{"id":1,"title":"t"}}',
    );
    fc.assert(
      fc.property(
        fc.constantFrom('3', '8', '9', 'd', 'e', 'f', 'p'),
        fc.array(value, { maxLength: 10 }),
        (queue, pieces) => {
          bench.decode(queue, pieces.join(''));
        },
      ),
      { numRuns: 2000 },
    );
    const copy = new AgentMemory();
    copy.restore(JSON.parse(JSON.stringify(bench.memory.snapshot())) as ReturnType<AgentMemory['snapshot']>);
    expect(copy.snapshot()).to.deep.equal(bench.memory.snapshot());
  });
});
