import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { MessageForm } from '../../../lib/agentlink/message-form.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { type AgentIdentity, keyLine, MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { AuthdServer, configureAuth, furnishAuthd } from '../../support/authd/authd-server.js';
import { enrol } from '../../support/authd/enrollment.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { KeepingSink } from '../../support/remoted/remoted-home.js';
import { TemporaryHome } from '../../support/temporary-home.js';

// Exchanges recorded between Wazuh 4.14.7, OSSEC-HIDS 4.2.0 and their managers (agent-transcript.md), played against
// ours. Keys are made anew at each enrolment and AES texts differ with the random digits; all else is compared as bytes.

const REFAGENT = {
  id: '001',
  name: 'refagent',
  key: '2efd390971d43cf250dc9c87b2fda86ac14052a4f1381d599cbcec7a8086e6b6',
};
const NATIVE = {
  id: '1024',
  name: 'nativeagent',
  key: '82b27ab1675e0637d1975b8db4d87a43eebc3377825e2b4c7786c2fac68c02f0',
};
const UNAME =
  '#!-Linux |vm |6.18.44-fc-v595 |#1 SMP PREEMPT_DYNAMIC @0 |x86_64 [Debian GNU/Linux|debian: 12 (bookworm)] - Wazuh v4.14.7';
const OSSEC_UNAME = '#!-Linux vm 6.18.44-fc-v595 #1 SMP PREEMPT_DYNAMIC @0 x86_64 - OSSEC HIDS v4.2.0';
const STARTUP = '#!-agent startup {"version":"v4.14.7"}';
const ACK = 'agent ack ';
const REMOTE =
  '<remote><connection>secure</connection><port>0</port><local_ip>127.0.0.1</local_ip><protocol>tcp,udp</protocol></remote>';
const TLS12 = { maxVersion: 'TLSv1.2' } as const;
const WRONG_PASSWORD = 'ERROR: Invalid password. Unable to add agent';

/** Request as it was recorded, and the reply with `<key>` for the 64 digits that are new each time. */
const ENROLMENTS: readonly (readonly [request: string, reply: string, tls?: typeof TLS12])[] = [
  [
    "OSSEC A:'refagent' V:'v4.14.7' K:'152910c0c553462c158c2ad6b6d6f49b51db1f2d'\n",
    'ERROR: Duplicate agent name: refagent. Unable to add agent',
  ],
  [
    "OSSEC A:'refagent2' V:'v4.14.7' G:'default' K:'152910c0c553462c158c2ad6b6d6f49b51db1f2d'\n",
    "OSSEC K:'002 refagent2 any <key>'",
  ],
  [
    "OSSEC A:'refagent3' V:'v4.14.7' G:'nosuchgroup' K:'674ab96e750ae6ff28ed660378bfccab5f7ef738'\n",
    'ERROR: Invalid group: nosuchgroup. Unable to add agent',
  ],
  [
    "OSSEC A:'refagent4' V:'v4.14.7' IP:'10.1.2.3' K:'674ab96e750ae6ff28ed660378bfccab5f7ef738'\n",
    "OSSEC K:'003 refagent4 10.1.2.3 <key>'",
  ],
  [
    "OSSEC A:'refagent5' V:'v4.14.7' IP:'src' K:'3ec4a02f3cd590e01199a5128777480351aa7d35'\n",
    "OSSEC K:'004 refagent5 127.0.0.1 <key>'",
  ],
  [
    "OSSEC PASS: secret OSSEC A:'refagent6' V:'v4.14.7' K:'950f79bf6d5ddf1255e14c5646565b328bf20d0f'\n",
    'ERROR: Invalid request for new agent. Unable to add agent',
  ],
  [
    "OSSEC A:'refagent7' V:'v4.14.7' G:'default,nosuch' K:'950f79bf6d5ddf1255e14c5646565b328bf20d0f'\n",
    'ERROR: Invalid group: nosuch. Unable to add agent',
  ],
  ["OSSEC A:'ossecagent'\n", "OSSEC K:'005 ossecagent any <key>'", TLS12],
  ["OSSEC A:'ossecagent'\n", 'ERROR: Duplicate agent name: ossecagent. Unable to add agent', TLS12],
  ["OSSEC A:'ossecagent2'\n", "OSSEC K:'006 ossecagent2 any <key>'", TLS12],
  ["OSSEC A:'autoagent' V:'v4.14.7' G:'default'\n", "OSSEC K:'007 autoagent any <key>'"],
];

const WITH_PASSWORD: typeof ENROLMENTS = [
  ["OSSEC A:'pwagent1' V:'v4.14.7' K:'93ff04bcf3409c5b8bd9700803bacc6f02005ebf'\n", WRONG_PASSWORD],
  ["OSSEC PASS: wrong OSSEC A:'pwagent2' V:'v4.14.7' K:'93ff04bcf3409c5b8bd9700803bacc6f02005ebf'\n", WRONG_PASSWORD],
  [
    "OSSEC PASS: TopSecret OSSEC A:'pwagent3' V:'v4.14.7' K:'93ff04bcf3409c5b8bd9700803bacc6f02005ebf'\n",
    "OSSEC K:'1025 pwagent3 any <key>'",
  ],
  // The one reply that is meant to differ: the reference refuses what OSSEC's agents send.
  ["OSSEC PASS: TopSecret\n OSSEC A:'osspw'\n", "OSSEC K:'1026 osspw any <key>'", TLS12],
];

describe('the recorded exchanges of agents', function () {
  this.timeout(60_000);
  const home = new TemporaryHome();
  const sink = new KeepingSink(home);
  const client = new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') });
  /** Keys that were given, by name. */
  const given = new Map<string, AgentIdentity>([
    ['refagent', REFAGENT],
    ['nativeagent', NATIVE],
  ]);
  const agents: MinimalAgent[] = [];
  let authd: AuthdServer;
  let remoted: RunningDaemon;

  before(async () => {
    await furnishAuthd(home);
    configureAuth(home, '', REMOTE);
    writeFileSync(home.path('etc/client.keys'), keyLine(REFAGENT), { mode: 0o640 });
    // As the recorded manager left it when its answers were at 1012, with rests of longer texts behind it.
    writeFileSync(home.path('queue/rids/sender_counter'), '0:1012:72:');
    await sink.start();
    [authd, remoted] = await Promise.all([AuthdServer.start(home), RunningDaemon.start('svc-remoted', home)]);
  });
  afterEach(() => {
    for (const agent of agents.splice(0)) agent.close();
  });
  after(async () => {
    client.close();
    await authd.end();
    await remoted.stop('SIGKILL');
    await sink.stop();
    home.remove();
  });

  async function play(enrolments: typeof ENROLMENTS): Promise<void> {
    for (const [request, expected, tls] of enrolments) {
      const reply = await enrol(authd.port, request, tls);
      const [, id = '', name = '', ip = '', key = ''] =
        /^OSSEC K:'(\d+) (\S+) (\S+) ([0-9a-f]{64})'$/.exec(reply) ?? [];
      expect(key === '' ? reply : reply.replace(key, '<key>'), request).to.equal(expected);
      if (key !== '') given.set(name, { id, name, ip, key });
    }
  }

  function agentNamed(name: string, form: MessageForm = 'aes'): MinimalAgent {
    const identity = given.get(name);
    if (identity === undefined) throw new Error(`no key of ${name}`);
    const agent = new MinimalAgent(identity, form);
    agents.push(agent);
    return agent;
  }
  async function overTcp(name: string, form?: MessageForm): Promise<MinimalAgent> {
    const agent = agentNamed(name, form);
    await agent.connect(remoted.port('agents_tcp'));
    return agent;
  }
  async function overUdp(name: string, form?: MessageForm): Promise<MinimalAgent> {
    const agent = agentNamed(name, form);
    await agent.connectUdp(remoted.port('agents_udp'));
    return agent;
  }

  /** Sends a message and waits for its one answer, which has to be this text. */
  async function exchange(agent: MinimalAgent, message: string, answer: string): Promise<void> {
    const { length } = agent.received;
    agent.send(message);
    await agent.until(`an answer to ${message.slice(0, 40)}`, () => agent.received.length > length || agent.closed);
    expect(agent.received.slice(length), message).to.deep.equal([answer]);
  }

  /** Sends messages that are not answered, and takes them from the bus: `location:text` each. */
  async function passedOn(agent: MinimalAgent, ...messages: string[]): Promise<void> {
    const { length } = sink.events;
    for (const message of messages) agent.send(message);
    await eventually('the events', () => sink.events.length >= length + messages.length);
    const events = sink.events.slice(length);
    expect(events.map(({ queue, location, message }) => `${queue}:${location}:${message.toString()}`)).to.deep.equal(
      messages,
    );
    const { id, name, ip } = agent.key;
    for (const event of events) expect(event.agent).to.include({ id, name, ip });
  }

  it('1: enrols over TLS 1.3 and 1.2, with groups, addresses and passwords', async () => {
    await play(ENROLMENTS);
    const { id, name, key } = NATIVE;
    expect(await authd.client.call('add', { id, name, key })).to.include({ id: '1024', ip: 'any' });
    writeFileSync(home.path('etc/authd.pass'), 'TopSecret\n', { mode: 0o640 });
    configureAuth(home, '<use_password>yes</use_password>', REMOTE);
    await authd.client.call('reload', {});
    await play(WITH_PASSWORD);
    await client.call('keys.reload', {});
  });

  it('3, 4, 5: a Wazuh agent over TCP, from its first start over a stop and a kill of the manager', async () => {
    let agent = await overTcp('refagent');
    await exchange(agent, STARTUP, ACK);
    await passedOn(agent, "1:wazuh-agent:ossec: Agent started: 'refagent->any'.");
    await exchange(agent, `${UNAME}\nx merged.mg\n#"_agent_ip":127.0.0.1\n`, ACK);
    const sums = ' / e7260a943cfdeb1dec2f94d6b871c6bc';
    await exchange(
      agent,
      `${UNAME}${sums}\n"ref.site":lab\n!"ref.hidden":h1\n3cad725c663cea0c7b2f00e8b945b2a7 merged.mg\n#"_agent_ip":127.0.0.1\n`,
      ACK,
    );
    await passedOn(agent, '1:/logs/test.log:Nov 21 00:45:01 vm sshd[999]: Failed password for invalid user bob');
    expect([...(sink.events.at(-1)?.agent?.labels ?? [])]).to.deep.equal([
      ['ref.site', 'lab'],
      ['!ref.hidden', 'h1'],
      ['_agent_ip', '127.0.0.1'],
    ]);
    expect(agent.managerCounters.map(({ global, local }) => [global, local])).to.deep.equal([
      [0, 1013],
      [0, 1014],
      [0, 1015],
    ]);
    // Answers have no id before them, and the length that was recorded.
    for (const frame of agent.frames) {
      expect(frame.toString('latin1', 0, 5)).to.equal('#AES:');
      expect(frame.length).to.equal(85);
    }
    agent.send('#!-agent shutdown ');
    await eventually('the stop', () => sink.texts('001').includes("ossec: Agent stopped: 'refagent->any'."));
    expect(sink.events.at(-1)).to.include({ queue: '1', location: 'wazuh-remoted' });
    expect(agent.acks).to.equal(3);
    const { counters } = agent;
    agent.close();

    // Agents go on counting; one that was installed anew begins at 1.
    agent = await overTcp('refagent');
    agent.counters = counters;
    await exchange(agent, STARTUP, ACK);
    const before = agent.managerCounters.at(-1);
    await remoted.stop('SIGKILL');
    await agent.until('the end', () => agent.closed);
    remoted = await RunningDaemon.start('svc-remoted', home);
    agent = await overTcp('refagent');
    await exchange(agent, STARTUP, ACK);
    await exchange(agent, `${UNAME}${sums}\ncd5f506d3cb0b8ff475e9e7451f69638 merged.mg\n#"_agent_ip":127.0.0.1\n`, ACK);
    expect(agent.managerCounters[0]?.local).to.be.greaterThan(before?.local ?? Infinity);
  });

  it('6, 7, 9, 12: passes on what modules send, as it is', async () => {
    const agent = await overTcp('refagent2');
    // The synchronisation is svc-db's, and no event.
    agent.send(
      '5:syscollector:{"component":"syscollector_groups","data":{"attributes":{"group_description":" ","group_id":2}},"type":"state"}',
    );
    await passedOn(
      agent,
      '8:syscheck:{"type":"scan_start","data":{"timestamp":1795220397}}',
      'd:syscollector:{"data":{"board_serial":" ","cpu_mhz":2597.0},"operation":"MODIFIED","type":"dbsync_hwinfo"}',
      'p:sca:{"type":"policies","policies":["ref_policy"]}',
    );
    // How an upgrade went is svc-modulesd's, and no event.
    agent.send('u:upgrade_module:{"command":"upgrade_update_status","parameters":{"error":0}}');
    // No agent speaks for another: this queue is for messages that have their origin already.
    agent.send('4:[001] (refagent) any->/x:never');
    await passedOn(agent, '1:{agent}/tmp/shared-conf.log:shared-line-1');
  });

  it('10, 11: asks agents, and orders them', async () => {
    const agent = await overTcp('refagent');
    await exchange(agent, STARTUP, ACK);
    const ask = (payload: string) => client.call('agents.request', { id: '001', target: 'agent', payload });
    agent.onRequest = () => 'ok {"client":{"notify_time":10}}';
    expect(await ask('getconfig client')).to.deep.equal({ answer: 'ok {"client":{"notify_time":10}}' });
    expect(agent.received.at(-1)).to.match(/^req [0-9a-f]{8} agent getconfig client$/);
    agent.onRequest = () => 'err Unrecognized command';
    expect(await ask('nosuch')).to.deep.equal({ answer: 'err Unrecognized command' });
    const orders = [
      'syscheck restart',
      'execd {"version":1,"origin":{"name":"node01","module":"wazuh-analysisd"},"command":"host-deny0","parameters":{}}',
      'force_reconnect',
    ];
    for (const message of orders) {
      expect(await client.call('agents.send', { ids: ['001'], message })).to.deep.equal({ sent: 1, failed: [] });
    }
    await agent.until('the orders', () => agent.received.at(-1) === orders[2]);
    expect(agent.received.slice(-3)).to.deep.equal(orders);
    // Answers to requests are not acknowledged.
    expect(agent.acks).to.equal(1);
  });

  it('13: odd cases', async () => {
    const agent = await overTcp('refagent');
    const higher = 'err {"message":"Agent version must be lower or equal to manager version"}';
    await exchange(agent, '#!-agent startup {"version":"v5.0.0"}', higher);
    await exchange(agent, '#!-agent startup {"version":"v4.14.8"}', ACK);
    const startup = agent.seal(STARTUP);
    agent.write(startup);
    agent.write(startup);
    await agent.until('both answers', () => agent.acks === 3);
    agent.write(Buffer.from('\x05\0\0\0#ping', 'latin1'));
    await agent.until('the pong', () => agent.received.at(-1) === '#pong');
    expect(agent.frames.at(-1)?.toString('latin1')).to.equal('#pong');

    const unknown = new MinimalAgent({ ...REFAGENT, id: '099' });
    const wrongKey = new MinimalAgent({ ...REFAGENT, key: 'f'.repeat(64) });
    // Its key is for another address: it leaves the id out, and its own address stands for agent 004.
    const elsewhere = agentNamed('refagent4');
    agents.push(unknown, wrongKey);
    for (const stranger of [unknown, wrongKey, elsewhere]) {
      await stranger.connect(remoted.port('agents_tcp'));
      stranger.send(STARTUP);
      await stranger.until('the end', () => stranger.closed);
      expect(stranger.received).to.deep.equal([]);
    }
    const silent = new MinimalAgent({ ...REFAGENT, id: '099' });
    agents.push(silent);
    await silent.connectUdp(remoted.port('agents_udp'));
    silent.send(STARTUP);
    silent.write(Buffer.from('#ping'));
    await silent.until('the pong', () => silent.received.length > 0);
    expect(silent.received).to.deep.equal(['#pong']);
    const fixed = await overTcp('refagent5');
    await exchange(fixed, STARTUP, ACK);
  });

  it('14: a Wazuh agent over UDP', async () => {
    const agent = await overUdp('autoagent');
    await exchange(agent, STARTUP, ACK);
    await passedOn(agent, "1:wazuh-agent:ossec: Agent started: 'autoagent->any'.");
    await exchange(agent, `${UNAME}\nx merged.mg\n#"_agent_ip":127.0.0.1\n`, ACK);
    for (const frame of agent.frames) expect(frame.length).to.equal(85);
  });

  for (const [section, name, form, lengths] of [
    // Of Blowfish, one block more or less, with the random digits.
    ['15', 'ossecagent2', 'blowfish', [65, 73]],
    ['16', 'nativeagent', 'aes-iv', [101]],
  ] as const) {
    it(`${section}: an OSSEC agent over UDP, ${form}`, async () => {
      const agent = await overUdp(name, form);
      await exchange(agent, '#!-agent startup ', ACK);
      await passedOn(
        agent,
        `1:ossec:ossec: Agent started: '${name}->any'.`,
        '8:syscheck:657:33184:0:994:9b047a33d73ed8af2aedf0c0ba0d7c86:af63dc490dfd42976b9d1a7be31a18f7a400bf0e {ossec-agent}/etc/ossec.conf',
        '9:rootcheck:Starting syscheck scan.',
      );
      const noise = "03@oSwzatqmjQ3P9'5JwVdYTFD.aq7O&(8?EMy(5.?wNkt4R'W$OZFPM8M]G1=r,ZqAf,nt'0P+!9bvkXQg5";
      await exchange(agent, `${OSSEC_UNAME}\nx merged.mg\n\n${noise}`, ACK);
      const sums = ' / 24a80d1144a2f4241b5cffa6892b2955\n980ded8602d70d5baa9fe370aa47e457 merged.mg\n\n*5@@YAlz7FHJKOr';
      await exchange(agent, OSSEC_UNAME + sums, ACK);
      expect(agent.acks).to.equal(3);
      for (const frame of agent.frames) expect(frame.length).to.be.oneOf(lengths);
    });
  }
});
