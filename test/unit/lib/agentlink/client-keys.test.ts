import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { ClientKeysDocument, ClientKeysError } from '../../../../daemons/authd/client-keys-document.js';
import { isAgentId, isAgentName } from '../../../../lib/agentlink/agent-identity.js';
import { AgentKey } from '../../../../lib/agentlink/agent-key.js';
import { parseClientKeys } from '../../../../lib/agentlink/client-keys.js';
import { ClientKeysFile, KeyFileError } from '../../../../lib/agentlink/client-keys-file.js';
import { AgentAddress, normalizeAddress } from '../../../../lib/network/agent-address.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const parse = (text: string | Buffer): ReturnType<typeof parseClientKeys> =>
  parseClientKeys(Buffer.from(text), 'etc/client.keys');
const keyOf = (id: string, name: string, ip = 'any', raw = 'k'.repeat(64)): AgentKey =>
  new AgentKey(id, name, AgentAddress.parse(ip)!, raw);

describe('agent identities', () => {
  it('have an id of digits and a name of plain characters', () => {
    expect(['001', '1024', '12345678', '7'].map(isAgentId)).to.deep.equal([true, true, true, true]);
    expect(['', '123456789', '0x1', '-1', '1 ', '../1', '1\n'].some(isAgentId)).to.equal(false);
    expect(['web01', 'db-server.example_02', 'ab', 'a'.repeat(128)].every(isAgentName)).to.equal(true);
    expect(['a', '.ab', 'a b', 'a/b', 'é1', '', 'a'.repeat(129), 'ab\n'].some(isAgentName)).to.equal(false);
  });

  it('have an address, a network or any', () => {
    const read = (text: string): unknown => {
      const address = AgentAddress.parse(text);
      return address && [address.text, address.single];
    };
    expect(read('any')).to.deep.equal(['any', false]);
    expect(read('10.0.0.5')).to.deep.equal(['10.0.0.5', true]);
    expect(read('!10.0.0.5')).to.deep.equal(['10.0.0.5', true]);
    expect(read('10.0.0.5/32')).to.deep.equal(['10.0.0.5', true]);
    expect(read('::ffff:10.0.0.5')).to.deep.equal(['10.0.0.5', true]);
    expect(read('10.0.0.0/8')).to.deep.equal(['10.0.0.0/8', false]);
    expect(read('10.0.0.0/255.0.0.0')).to.deep.equal(['10.0.0.0/8', false]);
    expect(read('0.0.0.0/0.0.0.0')).to.deep.equal(['0.0.0.0/0', false]);
    expect(read('2001:db8::1')).to.deep.equal(['2001:0DB8:0000:0000:0000:0000:0000:0001', false]);
    expect(read('2001:db8::/32')).to.deep.equal(['2001:0DB8:0000:0000:0000:0000:0000:0000/32', false]);
    for (const wrong of ['', 'x', '10.0.0', '10.0.0.0/33', '10.0.0.0/', '::1/129', 'any/8', '1.2.3.4/8/8']) {
      expect(read(wrong), wrong).to.equal(undefined);
    }
  });

  it('survive any text as an address, and are read back as they are written', () => {
    const piece = fc.constantFrom('10', '255', '.', ':', '::', '/', '8', '64', 'ffff', 'any', '!', '%', '0', 'g', ' ');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const address = AgentAddress.parse(pieces.join(''));
        if (address === undefined) return;
        const again = AgentAddress.parse(address.text);
        expect([again?.text, again?.single]).to.deep.equal([address.text, address.single]);
        const plain = address.text.split('/')[0]!;
        if (plain !== 'any') expect(address.contains(plain)).to.equal(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('cover the addresses they say', () => {
    const covers = (ip: string, source: string): boolean => AgentAddress.parse(ip)!.contains(normalizeAddress(source));
    expect(covers('any', 'fe80::1%eth0')).to.equal(true);
    expect(covers('10.0.0.5', '::ffff:10.0.0.5')).to.equal(true);
    expect(covers('10.0.0.5', '10.0.0.6')).to.equal(false);
    expect(covers('10.0.0.0/8', '10.200.0.1')).to.equal(true);
    expect(covers('10.0.0.0/8', '11.0.0.1')).to.equal(false);
    expect(covers('2001:db8::/32', '2001:DB8:1::7')).to.equal(true);
    expect(covers('2001:db8::/32', '2001:db9::7')).to.equal(false);
    expect(covers('2001:db8::1', '2001:db8:0::1')).to.equal(true);
  });
});

describe('client.keys', () => {
  it('is read with removed agents, networks and skipped lines', () => {
    const keys = parse(
      '# a remark\n\n indented\n001 web01 any 6f1a\n002 !oldbox 10.0.0.5 aaaa\n1024 db-1 192.0.2.0/24 bbbb cc\r\n' +
        '2000 #*#*#*#*#\n003 mail 2001:db8::1 dddd',
    );
    expect(keys.problems).to.deep.equal([]);
    expect(keys.agents.map(({ id, name, ip, rawKey }) => [id, name, ip, rawKey])).to.deep.equal([
      ['001', 'web01', 'any', '6f1a'],
      ['1024', 'db-1', '192.0.2.0/24', 'bbbb cc'],
      ['003', 'mail', '2001:0DB8:0000:0000:0000:0000:0000:0001', 'dddd'],
    ]);
    expect(keys.removed).to.deep.equal([
      { id: '002', line: '002 !oldbox 10.0.0.5 aaaa' },
      { id: '2000', line: '2000 #*#*#*#*#' },
    ]);
    expect(keys.highestId).to.equal(2000);
  });

  it('names each bad line by its place and tells nothing of its key', () => {
    const secret = 'deadbeefcafe';
    const bad = [
      `x1 web any ${secret}`,
      `000 web any ${secret}`,
      `123456789 web any ${secret}`,
      `004 .hidden any ${secret}`,
      `005 we/b any ${secret}`,
      `006 web 10.0.0.300 ${secret}`,
      '007 web any',
      '008 web any ',
      '009  any x',
      '010',
      `011 web any ${secret.repeat(200)}`,
      `001 twice any ${secret}`,
    ];
    const keys = parse(['001 web01 any k', ...bad, '012 last any k'].join('\n'));
    expect(keys.agents.map(({ id, name }) => id + name)).to.deep.equal(['001web01', '012last']);
    expect(keys.problems.map(({ line }) => line)).to.deep.equal(bad.map((_, index) => index + 2));
    for (const { line, text } of keys.problems) {
      expect(text).to.match(
        new RegExp(`^\\(1401\\): Error reading authentication key: 'etc/client.keys:${line}: .+'\\.$`),
      );
      expect(text).to.not.include('beef');
    }
    expect(keys.problems.at(-1)?.text).to.include('agent 001 stands there twice');
  });

  it('survives any bytes, and is read back as it was written', () => {
    const bytes = fc.uint8Array({ maxLength: 30 }).map((all) => Buffer.from(all).toString('latin1'));
    const piece = fc.constantFrom('001 web any k', '002 !x', '7 ', 'ab ', '10.0.0.0/8 ', ' ', '!', '#', '\r');
    const noise = fc.array(
      fc.oneof(
        bytes,
        piece,
        fc.tuple(piece, piece, piece, bytes).map((all) => all.join('')),
      ),
      {
        maxLength: 20,
      },
    );
    fc.assert(
      fc.property(noise, (lines) => {
        const keys = parse(lines.join('\n'));
        const again = parse(new ClientKeysDocument(keys).format());
        expect(again.problems).to.deep.equal([]);
        expect(again.agents.map((key) => [key.id, key.name, key.ip, key.rawKey])).to.deep.equal(
          keys.agents.map((key) => [key.id, key.name, key.ip, key.rawKey]),
        );
        expect(again.removed).to.deep.equal(keys.removed);
        expect(again.highestId).to.equal(keys.highestId);
      }),
      { numRuns: 300 },
    );
  });

  it('takes any number of carriage returns at the end of a line for its end, and none inside a key', () => {
    const keys = parse('001 web any k\r\r\n002 !gone any k\r\r\n003 db any a\rb\n');
    expect(keys.agents.map((key) => [key.id, key.rawKey])).to.deep.equal([['001', 'k']]);
    expect(keys.removed).to.deep.equal([{ id: '002', line: '002 !gone any k' }]);
    expect(keys.problems.map(({ text }) => text)).to.deep.equal([
      "(1401): Error reading authentication key: 'etc/client.keys:3: the key has a carriage return'.",
    ]);
  });

  it('is written with live agents first and removed ones as they were', () => {
    const document = new ClientKeysDocument(parse('002 !oldbox 10.0.0.5 aaaa\n001 web01 any 6f1a\n'));
    expect(document.nextId()).to.equal('003');
    document.add(keyOf('003', 'net', '10.0.0.0/255.255.0.0', 'cc'));
    expect(document.format().toString()).to.equal(
      '001 web01 any 6f1a\n003 net 10.0.0.0/16 cc\n002 !oldbox 10.0.0.5 aaaa\n',
    );
    expect(document.remove('001', false)?.name).to.equal('web01');
    expect(document.remove('001', false)).to.equal(undefined);
    expect(document.format().toString()).to.equal(
      '003 net 10.0.0.0/16 cc\n002 !oldbox 10.0.0.5 aaaa\n001 !web01 any 6f1a\n',
    );
    document.remove('003', true);
    expect([document.nextId(), document.size]).to.deep.equal(['004', 0]);
    document.purge();
    expect(document.format().length).to.equal(0);
  });

  it('takes no agent that it could not read back', () => {
    const document = new ClientKeysDocument(parse('99999999 last any k\n'));
    expect(() => document.nextId()).to.throw(ClientKeysError, 'every id is used');
    const wrong = [
      keyOf('99999999', 'again'),
      keyOf('000', 'manager'),
      keyOf('x', 'web'),
      keyOf('001', 'a\nb'),
      keyOf('001', 'web', 'any', 'a b'),
      keyOf('001', 'web', 'any', 'a\nb'),
      keyOf('001', 'web', 'any', ''),
      keyOf('001', 'web', 'any', 'k'.repeat(128)),
    ];
    for (const key of wrong) expect(() => document.add(key), key.id + key.name).to.throw(ClientKeysError);
    expect(document.size).to.equal(1);
  });
});

describe('ClientKeysFile', () => {
  const home = new TemporaryHome();
  const path = home.path('etc', 'client.keys');
  after(() => home.remove());

  it('sees a new file, a replaced one and a missing one', async () => {
    const file = new ClientKeysFile(path);
    expect((await file.read()).agents).to.deep.equal([]);
    expect(await file.changed()).to.equal(false);
    writeFileSync(path, '001 web any k\n');
    expect(await file.changed()).to.equal(true);
    expect((await file.read()).agents.map(({ id }) => id)).to.deep.equal(['001']);
    expect(await file.changed()).to.equal(false);
    writeFileSync(`${path}.new`, '002 web any k\n');
    renameSync(`${path}.new`, path);
    expect(await file.changed()).to.equal(true);
    expect((await file.read()).agents.map(({ id }) => id)).to.deep.equal(['002']);
    renameSync(path, `${path}.gone`);
    expect(await file.changed()).to.equal(true);
    expect((await file.read()).agents).to.deep.equal([]);
    expect(await file.changed()).to.equal(false);
  });

  it('reads only what was added, while the rest is as it was', async () => {
    const file = new ClientKeysFile(path);
    const line = (id: string) => `${id} agent${id} any ${'k'.repeat(64)}\n`;
    const many = Array.from({ length: 200 }, (_, index) => line(String(index + 100))).join('');
    const idsOf = async () => (await file.readAdded())?.map(({ id }) => id);
    writeFileSync(path, '');
    await file.read();
    appendFileSync(path, many);
    expect(await idsOf()).to.have.length(200);
    appendFileSync(path, line('301') + line('302'));
    expect(await file.changed()).to.equal(true);
    expect(await idsOf()).to.deep.equal(['301', '302']);
    expect(await file.changed()).to.equal(false);
    expect(await idsOf(), 'nothing came').to.deep.equal([]);
    for (const [what, change] of [
      ['a line without an end', () => appendFileSync(path, '303 agent303 any k')],
      ['a removed agent', () => appendFileSync(path, '303 !agent303 any k\n')],
      ['what is no line', () => appendFileSync(path, 'x\n')],
      ['another end', () => writeFileSync(path, many.replace('agent299', 'agent000') + line('303') + line('304'))],
      ['less', () => writeFileSync(path, line('001'))],
    ] as const) {
      writeFileSync(path, many);
      await file.read();
      change();
      expect(await idsOf(), what).to.equal(undefined);
    }
    writeFileSync(path, many);
    await file.read();
    writeFileSync(`${path}.new`, many + line('303'));
    renameSync(`${path}.new`, path);
    expect(await idsOf(), 'another file').to.equal(undefined);
    rmSync(path);
    expect(await idsOf(), 'no file').to.equal(undefined);
  });

  it('refuses what is no file', async () => {
    const error = await new ClientKeysFile(home.path('etc')).read().catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(KeyFileError).with.property('message', 'etc/client.keys is no regular file');
  });
});
