import { expect } from 'chai';
import fc from 'fast-check';
import { AgentHandshake } from '../../../../daemons/agentd/agent-handshake.js';
import { type AgentControl, judgeStartup, parseAgentControl } from '../../../../daemons/remoted/link/agent-control.js';
import { isHigherVersion, isOlderThan } from '../../../../lib/agentlink/agent-version.js';
import * as texts from '../../../../lib/agentlink/control-text.js';
import { keepsPushOpen, parseManagerControl } from '../../../../lib/agentlink/manager-control.js';

const fromAgent = (text: string | Buffer): AgentControl => parseAgentControl(Buffer.from(text));
const fromManager = (payload: string | Buffer): ReturnType<typeof parseManagerControl> =>
  parseManagerControl(Buffer.from(payload));

describe('control messages of agents', () => {
  it('are told apart from events', () => {
    const control = (text: string): boolean => texts.isControl(Buffer.from(text));
    expect(['#!-', '#!-x', texts.ACK_MESSAGE].map(control)).to.deep.equal([true, true, true]);
    expect(['', '#!', '1:a:b', ' #!-x', '#pin'].map(control)).to.deep.equal([false, false, false, false, false]);
  });

  it('are a startup, with or without a version', () => {
    const startup = (version: string | undefined, versionMissing = false): AgentControl => ({
      kind: 'startup',
      version,
      versionMissing,
    });
    expect(texts.startupMessage('v4.14.7')).to.equal('#!-agent startup {"version":"v4.14.7"}');
    expect(fromAgent(texts.startupMessage('v4.14.7'))).to.deep.equal(startup('v4.14.7'));
    expect(fromAgent('#!-agent startup ')).to.deep.equal(startup(undefined));
    expect(fromAgent('#!-agent startup {"version')).to.deep.equal(startup(undefined));
    for (const json of ['{}', '{"version":4}', '[]', '1', 'null', '{"version":null}']) {
      expect(fromAgent(`#!-agent startup ${json}`), json).to.deep.equal(startup(undefined, true));
    }
    expect(fromAgent(`#!-agent startup ${'['.repeat(60_000)}`)).to.deep.equal(startup(undefined));
  });

  it('are a shutdown, an answer, a keepalive or nothing', () => {
    expect(fromAgent(texts.SHUTDOWN_MESSAGE)).to.deep.equal({ kind: 'shutdown' });
    expect(fromAgent('#!-agent shutdown')).to.deep.equal({ kind: 'invalid' });
    expect(fromAgent(texts.answerMessage('1f3a', 'ok {"a":1}'))).to.deep.equal({
      ...{ kind: 'answer', counter: '1f3a', payload: Buffer.from('ok {"a":1}') },
    });
    const binary = Buffer.from('#!-req 9 \xff\xfe\n', 'latin1');
    expect(fromAgent(binary)).to.deep.equal({ kind: 'answer', counter: '9', payload: Buffer.from([0xff, 0xfe, 0x0a]) });
    expect(fromAgent('#!-Linux - Wazuh v4\nx merged.mg\n')).to.deep.equal({
      ...{ kind: 'keepalive', text: 'Linux - Wazuh v4\nx merged.mg\n' },
    });
    expect(fromAgent(Buffer.from('#!-a\xff\n', 'latin1'))).to.deep.equal({ kind: 'keepalive', text: 'a\ufffd\n' });
    for (const text of ['#!-', '#!-hello', '#!-req ', '#!-req x y', '#!-req 1', `#!-req ${'1'.repeat(17)} x`]) {
      expect(fromAgent(text), text).to.deep.equal({ kind: 'invalid' });
    }
  });

  it('are judged by the release line', () => {
    const judge = (version: string | undefined, higher = false, versionMissing = false): unknown => {
      const verdict = judgeStartup({ kind: 'startup', version, versionMissing }, '4.14.7', higher);
      return verdict.accepted ? 'ack' : [verdict.statusCode, texts.errorMessage(verdict.message)];
    };
    for (const version of ['v4.14.7', '4.14.99', 'v4.3.0', 'v3.13.6', 'nonsense', '', undefined]) {
      expect(judge(version), version).to.equal('ack');
    }
    const tooHigh = '#!-err {"message":"Agent version must be lower or equal to manager version"}';
    expect([judge('v4.15.0'), judge('5'), judge('v5.0.0')]).to.deep.equal([
      [1, tooHigh],
      [1, tooHigh],
      [1, tooHigh],
    ]);
    expect(judge('v5.0.0', true)).to.equal('ack');
    expect(judge(undefined, true, true)).to.deep.equal([2, '#!-err {"message":"Couldn\'t retrieve version"}']);
    expect(isOlderThan('Wazuh v4.2.0', { major: 4, minor: 2 })).to.equal(false);
    expect(isOlderThan('Wazuh v4.1.9', { major: 4, minor: 2 })).to.equal(true);
    for (const version of ['OSSEC HIDS v4.2.0', 'OSSEC HIDS v5.0.0']) {
      expect(isOlderThan(version, { major: 3, minor: 0 }), version).to.equal(true);
    }
    expect(isHigherVersion('v4.2.0', '4.14.7')).to.equal(false);
  });
});

describe('control messages of managers', () => {
  it('are read as they are written', () => {
    expect(fromManager(texts.ACK_MESSAGE)).to.deep.equal({ kind: 'ack' });
    expect(fromManager(texts.errorMessage('no "way"'))).to.deep.equal({ kind: 'error', message: 'no "way"' });
    expect(fromManager('#!-err nonsense')).to.deep.equal({ kind: 'error', message: '' });
    expect(fromManager('#!-force_reconnect')).to.deep.equal({ kind: 'force_reconnect' });
    expect(fromManager('#!-execd {"version":1}')).to.deep.equal({ kind: 'execd', text: '{"version":1}' });
    expect(fromManager('#!-syscheck restart')).to.deep.equal({ kind: 'syscheck', text: 'syscheck restart' });
    const md5 = 'fe920c9b2e16ab18949883457ffcc2e8';
    expect(fromManager(texts.pushStartMessage(md5, 'merged.mg'))).to.deep.equal({
      kind: 'push_start',
      md5,
      name: 'merged.mg',
    });
    expect(fromManager(texts.PUSH_END_MESSAGE)).to.deep.equal({ kind: 'push_end' });
    expect(fromManager(texts.requestMessage('95989f54', 'agent', 'getconfig client'))).to.deep.equal({
      ...{ kind: 'request', counter: '95989f54', target: 'agent', payload: Buffer.from('getconfig client') },
    });
    const piece = Buffer.from([0xff, 0x00, 0x20]);
    expect(fromManager(texts.requestMessage('1f', 'com', piece))).to.deep.equal({
      ...{ kind: 'request', counter: '1f', target: 'com', payload: piece },
    });
    expect(fromManager('#!-req 1 agent')).to.deep.include({
      kind: 'request',
      target: 'agent',
      payload: Buffer.alloc(0),
    });
    expect(fromManager(texts.requestAckMessage('1f'))).to.deep.equal({ kind: 'request_ack', counter: '1f' });
  });

  it('go to the parts they are for', () => {
    const kinds = [
      'syscheck restart',
      'fim_file dbsync no_data {}',
      'fim_registry_key x',
      'syscollector_ports dbsync checksum_fail {}',
      'sca-dump:ref_policy:1',
    ].map((text) => fromManager(`#!-${text}`));
    expect(kinds.map(({ kind }) => kind)).to.deep.equal(['syscheck', 'syscheck', 'syscheck', 'inventory', 'policies']);
    expect(kinds[4]).to.have.property('text', 'sca-dump:ref_policy:1');
    const path = Buffer.from([0x2f, 0xff, 0xc3, 0xa9]);
    expect(fromManager(Buffer.concat([Buffer.from('#!-fim_file '), path]))).to.deep.equal({
      kind: 'syscheck',
      text: 'fim_file /\xff\xc3\xa9',
    });
    for (const text of [
      '',
      'agent ack',
      'agent ack  ',
      'up file x y',
      `up file ${'a'.repeat(32)} `,
      'req',
      'req 1  x',
      'req 1 ',
    ]) {
      expect(fromManager(`#!-${text}`), text).to.deep.equal({ kind: 'unknown' });
    }
  });

  it('leave a file that is being pushed open, or end it', () => {
    const open = [
      'execd {}',
      'force_reconnect',
      'syscheck restart',
      'syscollector_x',
      'agent ack ',
      'req 1 agent x',
      'sca-dump:x:1',
    ];
    for (const text of open) expect(keepsPushOpen(fromManager(`#!-${text}`)), text).to.equal(true);
    const end = ['err {}', `up file ${'a'.repeat(32)} merged.mg\n`, 'close file ', 'whatever'];
    for (const text of end) expect(keepsPushOpen(fromManager(`#!-${text}`)), text).to.equal(false);
  });

  it('survive any bytes, in both directions', () => {
    const words = [
      'agent ',
      'startup ',
      'shutdown ',
      'req ',
      '1f ',
      'up file ',
      'close file ',
      'err ',
      '{"',
      '\n',
      'a'.repeat(32),
    ];
    const bytes = fc.array(
      fc.oneof(
        fc.constantFrom(...words).map((word) => Buffer.from(word)),
        fc.uint8Array({ maxLength: 20 }).map((all) => Buffer.from(all)),
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(bytes, (parts) => {
        const payload = Buffer.concat([Buffer.from('#!-'), ...parts]);
        expect(parseAgentControl(payload).kind).to.be.a('string');
        expect(parseManagerControl(payload).kind).to.be.a('string');
      }),
      { numRuns: 1000 },
    );
  });
});

describe('AgentHandshake', () => {
  it('tells of the start once a process, and of nothing after a rejection', () => {
    const handshake = new AgentHandshake('v4.14.7', { name: 'web01', ip: 'any' });
    expect(handshake.begin()).to.equal('#!-agent startup {"version":"v4.14.7"}');
    expect(handshake.answer({ kind: 'error', message: 'too new' })).to.deep.equal({
      state: 'rejected',
      message: 'too new',
    });
    const started = Buffer.from("1:wazuh-agent:ossec: Agent started: 'web01->any'.");
    expect(handshake.answer({ kind: 'ack' })).to.deep.equal({ state: 'connected', messages: [started] });
    expect(handshake.answer({ kind: 'ack' })).to.deep.equal({ state: 'connected', messages: [] });
  });
});
