import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { enrollmentKeyHash } from '../../../lib/agentlink/agent-key.js';
import type { BusError } from '../../../lib/bus/bus-error.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { authdHome, AuthdServer, configureAuth } from '../../support/authd/authd-server.js';
import { connectEnrollment, enrol, keyLines, keyOf, readReply } from '../../support/authd/enrollment.js';
import { eventually } from '../../support/eventually.js';
import type { TemporaryHome } from '../../support/temporary-home.js';
import { testCertificate } from '../../support/tls/test-certificates.js';

const DUPLICATE = (name: string) => `ERROR: Duplicate agent name: ${name}. Unable to add agent`;
const HASH = /^[0-9a-f]{64}$/;

describe('svc-authd', () => {
  let home: TemporaryHome;
  let authd: AuthdServer | undefined;

  async function start(auth = ''): Promise<AuthdServer> {
    home = await authdHome(auth);
    authd = await AuthdServer.start(home);
    return authd;
  }

  afterEach(async () => {
    await authd?.end();
    authd = undefined;
    home.remove();
  });

  const log = () => readFileSync(home.path('logs/manager.log'), 'utf8');

  it('enrols agents: key in the file before the reply, groups, addresses, duplicates', async () => {
    const { port, client } = await start('<purge>no</purge>');
    const first = keyOf(await enrol(port, "OSSEC A:'web01' V:'v4.14.7' G:'web,default'\n"));
    expect(first).to.include({ id: '001', name: 'web01', ip: 'any' });
    expect(keyLines(home)).to.deep.equal([`001 web01 any ${first.key}`]);
    expect(statSync(home.path('etc/client.keys')).mode & 0o777).to.equal(0o640);

    expect(keyOf(await enrol(port, "OSSEC A:'web02' IP:'src'\n"))).to.include({ id: '002', ip: '127.0.0.1' });
    expect(await enrol(port, "OSSEC A:'web03' IP:'127.0.0.1'\n")).to.equal(
      'ERROR: Duplicate IP: 127.0.0.1. Unable to add agent',
    );
    expect(await enrol(port, "OSSEC A:'web01'\n")).to.equal(DUPLICATE('web01'));
    expect(await enrol(port, "OSSEC A:'web04' G:'nosuch'\n")).to.equal(
      'ERROR: Invalid group: nosuch. Unable to add agent',
    );
    // What a link leads to is no group, nor is a folder of some other program.
    mkdirSync(home.path('etc/shared/.git'));
    symlinkSync(home.path('etc/shared/web'), home.path('etc/shared/linked'));
    for (const name of ['.git', 'linked']) {
      expect(await enrol(port, `OSSEC A:'web04' G:'web,${name}'\n`)).to.equal(
        `ERROR: Invalid group: ${name}. Unable to add agent`,
      );
      const params = { name: 'web04', ip: 'any', groups: [name] };
      const refused = await client.call('add', params).catch((error: unknown) => error);
      expect(refused).to.include({ code: 'bad_groups', message: `Invalid group: ${name}` });
    }
    expect(await enrol(port, "OSSEC PASS: x OSSEC A:'web04'\n")).to.equal(
      'ERROR: Invalid request for new agent. Unable to add agent',
    );
    // OSSEC's agents speak TLS 1.2 only; nothing below is taken.
    expect(keyOf(await enrol(port, "OSSEC A:'ossec1'\n", { maxVersion: 'TLSv1.2' })).id).to.equal('003');
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
    await enrol(port, "OSSEC A:'ossec2'\n", old).then(
      () => expect.fail('TLS 1.1 was taken'),
      (error: Error) => expect(error.message).to.match(/protocol|alert|reset/i),
    );

    const { agents, total } = await client.call('list', {});
    expect(total).to.equal(3);
    expect(agents[0]).to.deep.equal({ id: '001', name: 'web01', ip: 'any' });
    expect(await client.call('get', { id: '001' })).to.deep.equal({ ...first });
    expect(await client.call('config', { section: 'auth' })).to.have.nested.property('auth.force.enabled', 'yes');
    expect(log()).to.contain("Agent key generated for 'web01' (requested by 127.0.0.1)").and.not.contain(first.key);
  });

  it('answers local requests, and gives no id twice after removals and restarts', async () => {
    let { client } = await start('<purge>yes</purge>');
    const added = await client.call('add', { name: 'db01', ip: '10.0.0.0/24', groups: ['web'] });
    expect(added).to.include({ id: '001', name: 'db01', ip: '10.0.0.0/24' });
    expect(added.key).to.match(HASH);
    const key = 'k'.repeat(64);
    // Written as ids are, whatever the caller writes.
    expect(await client.call('add', { name: 'db02', id: '0005', key })).to.include({ id: '005', key });
    expect(keyLines(home)[1]).to.match(/^005 db02 /);
    const code = async (params: Parameters<typeof client.call<'add'>>[1]) =>
      client.call('add', params).then(
        () => 'added',
        (error: unknown) => (error as BusError).code,
      );
    expect(await code({ name: 'db02' })).to.equal('duplicate_name');
    expect(await code({ name: 'db03', id: '001', key })).to.equal('duplicate_id');
    expect(await code({ name: 'db03', id: '00001', key })).to.equal('duplicate_id');
    expect(await code({ name: 'db03', id: '0000', key })).to.equal('bad_id');
    expect(await code({ name: 'db03', ip: '10.0.0.0/255.255.255.0' })).to.equal('duplicate_ip');
    expect(await code({ name: 'db03', ip: 'nowhere' })).to.equal('bad_ip');
    expect(await code({ name: 'db 03' })).to.equal('bad_name');
    expect(await code({ name: 'db03', key: 'with blank' })).to.equal('bad_key');
    expect(await code({ name: 'db03', groups: ['nosuch'] })).to.equal('bad_groups');
    expect(await client.call('remove', { ids: ['001', '005', '009'], purge: true })).to.deep.equal({
      removed: [
        { id: '001', name: 'db01' },
        { id: '005', name: 'db02' },
      ],
      unknown: ['009'],
    });
    expect(keyLines(home)).to.deep.equal([]);
    await authd?.end();
    authd = await AuthdServer.start(home);
    client = authd.client;
    expect(await client.call('add', { name: 'db01' })).to.include({ id: '006' });
  });

  it('demands the password of the file, and a random one without a file', async () => {
    home = await authdHome('<use_password>yes</use_password>');
    writeFileSync(home.path('etc/authd.pass'), 'TopSecret\nsecond line\n', { mode: 0o640 });
    authd = await AuthdServer.start(home);
    const wrong = 'ERROR: Invalid password. Unable to add agent';
    expect(await enrol(authd.port, "OSSEC A:'web01'\n")).to.equal(wrong);
    expect(await enrol(authd.port, "OSSEC PASS: topsecret OSSEC A:'web01'\n")).to.equal(wrong);
    keyOf(await enrol(authd.port, "OSSEC PASS: TopSecret OSSEC A:'web01'\n"));
    keyOf(await enrol(authd.port, "OSSEC PASS: TopSecret\n OSSEC A:'osspw'\n"));
    expect(log())
      .to.contain('Using password specified on file: etc/authd.pass')
      .and.not.contain('TopSecret')
      .and.not.contain('no password is set');
    writeFileSync(home.path('etc/authd.pass'), 'Another\n');
    await authd.client.call('reload', {});
    expect(await enrol(authd.port, "OSSEC PASS: TopSecret OSSEC A:'web02'\n")).to.equal(wrong);
    keyOf(await enrol(authd.port, "OSSEC PASS: Another OSSEC A:'web02'\n"));
    await authd.end();

    const program = fileURLToPath(new URL('bin/svc-authd', productRoot()));
    writeFileSync(home.path('etc/authd.pass'), 'x\n');
    const check = spawnSync(process.execPath, [program, '-t', '--home', home.root], { encoding: 'utf8' });
    expect(check.status).to.equal(1);
    expect(check.stderr).to.contain('Empty password provided.');
  });

  it('says at a reload how agents get in from then on, as it does at a start', async () => {
    home = await authdHome('');
    authd = await AuthdServer.start(home);
    const { port, client } = authd;
    const said = (text: string) => log().split(text).length - 1;
    const reload = async (auth: string) => {
      configureAuth(home, auth);
      await client.call('reload', {});
    };
    expect(said(`Accepting connections on port ${String(port)}. No password required.`)).to.equal(1);
    await reload('<use_password>yes</use_password>');
    const words =
      /Accepting connections on port (\d+)\. Random password chosen for agent authentication: ([0-9a-f]{32})\n/;
    const [, shown, password = ''] = words.exec(log()) ?? [];
    expect(shown).to.equal(String(port));
    keyOf(await enrol(port, `OSSEC PASS: ${password} OSSEC A:'web01'\n`));
    // What stays the same is not said again, and neither is the password another one.
    await reload('<use_password>yes</use_password><purge>yes</purge>');
    expect(said('Random password')).to.equal(1);
    keyOf(await enrol(port, `OSSEC PASS: ${password} OSSEC A:'web02'\n`));
    writeFileSync(home.path('etc/authd.pass'), 'TopSecret\n');
    await reload('<use_password>yes</use_password>');
    expect(said('Using password specified on file: etc/authd.pass')).to.equal(1);
    writeFileSync(home.path('etc/authd.pass'), 'Another\n');
    await reload('<use_password>yes</use_password>');
    expect(said('Using password specified on file: etc/authd.pass')).to.equal(2);
    const { key, cert } = testCertificate({ commonName: 'manager' });
    writeFileSync(home.path('etc/sslmanager.key'), key);
    writeFileSync(home.path('etc/sslmanager.cert'), cert);
    await reload('');
    expect(said(`Accepting connections on port ${String(port)}. No password required.`)).to.equal(2);
    expect(said(`Port ${String(port)} shows another certificate from now on: 'etc/sslmanager.cert'.`)).to.equal(1);
    expect(log()).to.not.contain('TopSecret').and.not.contain('Another');
  });

  it('replaces by the rules, leaves the removed line, and names hosts that fight over a name', async () => {
    const free = '<force><disconnected_time enabled="no">0</disconnected_time>';
    const { port, client } = await start(`${free}<after_registration_time>0</after_registration_time></force>`);
    // Two hosts, as their addresses tell.
    const other = { localAddress: '127.0.0.2' };
    const first = keyOf(await enrol(port, "OSSEC A:'twin'\n"));
    const hash = enrollmentKeyHash(first.id, first.name, first.key);
    expect(await enrol(port, `OSSEC A:'twin' K:'${hash}'\n`), 'has the right key').to.equal(DUPLICATE('twin'));
    // An agent that has never connected and that nobody else has had is taken for the one that asks.
    const second = keyOf(await enrol(port, "OSSEC A:'twin'\n", other));
    expect(keyLines(home)).to.deep.equal([`001 twin any ${second.key}`]);
    // Each host comes back with the key that the other one made worthless.
    const third = keyOf(await enrol(port, `OSSEC A:'twin' K:'${hash}'\n`));
    expect(keyLines(home)).to.deep.equal([`002 twin any ${third.key}`, `001 !twin any ${second.key}`]);
    const lost = enrollmentKeyHash(second.id, second.name, second.key);
    expect(await enrol(port, `OSSEC A:'twin' K:'${lost}'\n`, other)).to.equal(DUPLICATE('twin'));
    expect(log()).to.contain("Several hosts use the name 'twin'");
    const { conflicts } = await client.call('conflicts', {});
    expect(conflicts).to.have.length(1);
    expect(conflicts[0]).to.include({ name: 'twin', id: '002', replacements: 2, refused: 1 });
    // An operator who removes the agent frees its name.
    await client.call('remove', { ids: ['002'] });
    keyOf(await enrol(port, `OSSEC A:'twin' K:'${lost}'\n`));
  });

  it('lets an agent that cannot store its key keep its id, and says once that it keeps coming', async () => {
    const free = '<force><disconnected_time enabled="no">0</disconnected_time>';
    home = await authdHome(`${free}<after_registration_time>0</after_registration_time></force>`);
    // Its address may add two agents a day: those that are there already do not count again.
    const limits = 'authd.enrollments_per_minute=0\nauthd.enrollments_per_day=2\n';
    writeFileSync(home.path('etc/local_internal_options.conf'), limits);
    authd = await AuthdServer.start(home);
    const { port } = authd;
    // More often than any name may change hands within an hour, with the key of another manager and without.
    const stale = enrollmentKeyHash('007', 'full-disk', 'a'.repeat(64));
    const keys = new Set<string>();
    for (let round = 0; round < 30; round += 1) {
      const hash = round % 2 === 0 ? '' : ` K:'${stale}'`;
      const { id, key } = keyOf(await enrol(port, `OSSEC A:'full-disk' G:'web'${hash}\n`));
      expect(id).to.equal('001');
      keys.add(key);
    }
    expect(keys.size).to.equal(30);
    expect(keyLines(home)).to.deep.equal([`001 full-disk any ${[...keys].at(-1) ?? ''}`]);
    const lines = log().split('\n');
    const count = (text: string) => lines.filter((line) => line.includes(text)).length;
    expect(count("Agent 'full-disk' (id '001') enrols again and again from 127.0.0.1 and never connects")).to.equal(1);
    expect(count('Received request for a new agent (full-disk)')).to.equal(4);
    expect(keyOf(await enrol(port, "OSSEC A:'next'\n")).id).to.equal('002');
  });

  it('gives a name to one of many that ask for it at once', async () => {
    const { port } = await start();
    const replies = await Promise.all(Array.from({ length: 20 }, () => enrol(port, "OSSEC A:'wanted'\n")));
    expect(replies.filter((reply) => reply.startsWith('OSSEC K:'))).to.have.length(1);
    expect(keyLines(home)).to.have.length(1);
  });

  it('takes flags of its own', async () => {
    home = await authdHome('<force><enabled>no</enabled><after_registration_time>0</after_registration_time></force>');
    writeFileSync(home.path('etc/authd.pass'), 'TopSecret\n');
    authd = await AuthdServer.start(home, ['-p', '0', '-P', '-F', '-i', '-a']);
    expect(await enrol(authd.port, "OSSEC A:'web01'\n")).to.contain('Invalid password');
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
    const request = "OSSEC PASS: TopSecret OSSEC A:'web01'\n";
    expect(keyOf(await enrol(authd.port, request, old))).to.include({ id: '001', ip: '127.0.0.1' });
    await eventually('it may be replaced', async () => {
      const reply = await enrol(authd?.port ?? 0, request);
      return reply.startsWith('OSSEC K:');
    });
    const program = fileURLToPath(new URL('bin/svc-authd', productRoot()));
    const wrong = spawnSync(process.execPath, [program, '-p', 'x', '--home', home.root], { encoding: 'utf8' });
    expect(wrong.stderr).to.contain('It must be a port: 0 to 65535.');
    expect(wrong.status).to.equal(1);
  });

  it('limits what one address enrols, and says that no password is set', async () => {
    home = await authdHome();
    writeFileSync(
      home.path('etc/local_internal_options.conf'),
      'authd.enrollments_per_minute=60\nauthd.enrollments_per_day=20\n',
    );
    authd = await AuthdServer.start(home);
    const { port } = authd;
    const replies = [];
    for (let number = 1; number <= 25; number += 1) replies.push(await enrol(port, `OSSEC A:'flood${number}'\n`));
    const refused = 'ERROR: Too many enrollments from this address. Unable to add agent';
    expect(replies.map((reply) => reply === refused)).to.deep.equal([...Array(20).fill(false), ...Array(5).fill(true)]);
    expect(keyOf(await enrol(port, "OSSEC A:'web01'\n", { localAddress: '127.0.0.2' })).id).to.equal('021');
    expect(log())
      .to.include('WARNING: Too many enrolments from 127.0.0.1: more than 20 keys a day (authd.enrollments_per_day).')
      .and.include(`WARNING: Whoever reaches port ${port} can enrol agents: no password is set.`);
    expect((await authd.client.call('stats', {}))['enrollment']).to.include({ limited: 5 });
  });

  it('takes a request in pieces, and one without newline for none', async () => {
    const { port } = await start();
    const socket = await connectEnrollment(port);
    const reply = readReply(socket);
    // Each is a record of TLS of its own, and comes to svc-authd as one.
    await new Promise((resolve) => socket.write("OSSEC A:'we", resolve));
    socket.write("b01'\n");
    keyOf(await reply);
    const half = await connectEnrollment(port);
    const nothing = readReply(half);
    half.end("OSSEC A:'web02'");
    expect(await nothing).to.equal('');
    expect(await enrol(port, `OSSEC A:'${'x'.repeat(70_000)}'\n`)).to.equal('');
    await eventually('it is logged', () =>
      log().includes('Newline terminator not found in message request for 127.0.0.1'),
    );
    const plain = connectPlain(port, '127.0.0.1');
    plain.on('error', () => {});
    plain.write('GET / HTTP/1.0\r\n\r\n');
    await new Promise((resolve) => plain.on('close', resolve));
    keyOf(await enrol(port, "OSSEC A:'web02'\n"));
  });

  it('speaks the frames of queue/sockets/auth', async () => {
    await start();
    const ask = (text: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connectPlain(home.path('queue/sockets/auth'));
        const chunks: Buffer[] = [];
        const header = Buffer.alloc(4);
        header.writeUInt32LE(Buffer.byteLength(text));
        socket.on('data', (chunk) => chunks.push(chunk));
        socket.on('error', reject);
        socket.on('close', () => resolve(Buffer.concat(chunks).subarray(4).toString()));
        socket.write(Buffer.concat([header, Buffer.from(text)]));
      });
    const call = async (name: string, given: object) =>
      JSON.parse(await ask(JSON.stringify({ function: name, arguments: given }))) as { error: number; data?: unknown };
    const added = await call('add', { name: 'local1', ip: 'any', id: '0001' });
    expect(added).to.have.nested.property('data.id', '001');
    const force = (value: unknown) => ({
      enabled: true,
      key_mismatch: true,
      disconnected_time: { enabled: true, value },
      after_registration_time: '0',
    });
    expect((await call('add', { name: 'local1', ip: 'any' })).error).to.equal(9008);
    expect(await call('add', { name: 'local1', ip: 'any', force: force('1h') })).to.have.nested.property(
      'data.id',
      '002',
    );
    expect((await call('add', { name: 'local1', ip: 'any', force: force('soon') })).error).to.equal(9002);
    expect((await call('add', { name: 'local1', ip: 'any', force: { enabled: true } })).error).to.equal(9002);
    expect((await call('add', { ip: 'any' })).error).to.equal(9005);
    expect((await call('add', { name: 'local2' })).error).to.equal(9006);
    expect((await call('add', { name: 'local2', ip: 'any', groups: 'nosuch' })).error).to.equal(9014);
    expect((await call('get', { id: '002' })).data).to.include({ id: '002', name: 'local1' });
    expect((await call('remove', { id: '009' })).error).to.equal(9011);
    expect((await call('remove', {})).error).to.equal(9010);
    expect(await call('remove', { id: '002', purge: 1 })).to.deep.equal({
      error: 0,
      data: 'Agent deleted successfully.',
    });
    expect(keyLines(home).every((line) => line.includes(' !local1 '))).to.equal(true);
    expect((await call('dance', {})).error).to.equal(9001);
    expect(JSON.parse(await ask('{"function":'))).to.deep.equal({ error: 9002, message: 'Parsing JSON input' });
    expect(await ask('getconfig auth')).to.match(/^ok \{"auth":\{"port":0/);
    expect(await ask('dance')).to.equal('err Unrecognized command');
  });

  it('takes over a key file that was changed by hand', async () => {
    const { port, client } = await start();
    keyOf(await enrol(port, "OSSEC A:'web01'\n"));
    appendFileSync(home.path('etc/client.keys'), `007 byhand any ${'f'.repeat(64)}\n`);
    await eventually('it is seen', async () => (await client.call('list', {})).total === 2);
    expect(keyOf(await enrol(port, "OSSEC A:'web02'\n")).id).to.equal('008');
    expect(keyLines(home).map((line) => line.split(' ')[0])).to.deep.equal(['001', '007', '008']);
    writeFileSync(home.path('etc/client.keys'), `007 byhand any ${'f'.repeat(64)}\n`);
    await eventually('it is seen without a request', async () => (await client.call('list', {})).total === 1);
  });

  it('loses no answered key and gives no id twice when it is killed', async () => {
    home = await authdHome();
    const answered: { id: string; name: string; key: string }[] = [];
    for (let round = 0; round < 3; round += 1) {
      authd = await AuthdServer.start(home);
      const server = authd;
      let next = 0;
      let replies = 0;
      let enough: () => void = () => {};
      const some = new Promise<void>((resolve) => (enough = resolve));
      const client = async () => {
        while (next < 300) {
          const name = `r${round}-${next++}`;
          const reply = await enrol(server.port, `OSSEC A:'${name}'\n`).catch(() => '');
          if (reply === '') return;
          answered.push(keyOf(reply));
          if (++replies >= 60 + round) enough();
        }
      };
      const clients = Array.from({ length: 8 }, client);
      await some;
      await server.end('SIGKILL');
      await Promise.all(clients);
      const lines = keyLines(home);
      expect(readFileSync(home.path('etc/client.keys'), 'latin1')).to.match(/\n$/);
      for (const line of lines) expect(line).to.match(/^\d{3,} \S+ any [0-9a-f]{64}$/);
      for (const { id, name, key } of answered) expect(lines).to.include(`${id} ${name} any ${key}`);
      expect(new Set(lines.map((line) => line.split(' ')[0])).size).to.equal(lines.length);
    }
    expect(answered.length).to.be.greaterThan(180);
    expect(existsSync(home.path('etc/client.keys'))).to.equal(true);
  });

  it('closes the port when agents may not enrol over the network', async () => {
    const { port, client } = await start('<remote_enrollment>no</remote_enrollment>');
    expect(port).to.equal(0);
    expect(await client.call('add', { name: 'local1' })).to.include({ id: '001' });
    configureAuth(home, '<remote_enrollment>yes</remote_enrollment>');
    expect(await client.call('reload', {})).to.deep.equal({ restartNeeded: ['auth'] });
  });
});
