import { Readable } from 'node:stream';
import { expect } from 'chai';
import { AlertLines } from '../../../../bin/api/alert-lines.js';
import { readEvents } from '../../../../bin/api/event-lines.js';

describe('lines of alerts', () => {
  const alert = {
    timestamp: '2026-11-27T12:34:19.591+0000',
    rule: { level: 5, id: '5710', description: 'sshd: login with a user name that does not exist' },
    agent: { id: '001', name: 'a-host-with-a-long-name' },
    data: { srcip: '192.0.2.7' },
  };

  it('have columns that do not move, and fit the terminal', () => {
    const lines = new AlertLines(80);
    const shown = lines.line(alert);
    expect(shown).to.match(
      /^2026-11-2\d \d\d:\d\d:19 {6}5 {4}5710 {2}a-host-with-a-l… {2}sshd: login with a user n…\n$/,
    );
    expect(shown.length).to.equal(81);
    expect(lines.heading().indexOf('WHAT')).to.equal(shown.indexOf('sshd'));
    const known = new AlertLines(undefined).line({ ...alert, agent: { id: '002' } });
    expect(known).to.contain('5710  002               sshd: login with a user name that does not exist (192.0.2.7)\n');
  });

  it('show nothing that a terminal would obey, and need no member', () => {
    const line = new AlertLines(120).line({ rule: { description: 'a\u001b[2Jb\nc' } });
    expect(line.slice(0, -1)).not.to.match(/[\u0000-\u001f]/);
    expect(new AlertLines(120).line({ full_log: 'only this' })).to.match(/only this\n$/);
    expect(new AlertLines(120).line(7)).to.equal('\n');
  });
});

describe('events of a stream', () => {
  const read = async (chunks: (string | Buffer)[]) => {
    const found = [];
    for await (const event of readEvents(Readable.from(chunks) as AsyncIterable<Buffer>)) found.push(event);
    return found;
  };

  it('are read however they are cut', async () => {
    const text =
      ': hello\n\nid: 1\nevent: alert\ndata: {"a":"é"}\n\n: here\nid: 2\n\n: here\n\nevent: end\ndata: {}\n\ndata: cut';
    const whole = [
      { event: 'alert', id: '1', data: '{"a":"é"}' },
      { event: '', id: '2', data: '' },
      { event: 'end', id: undefined, data: '{}' },
    ];
    expect(await read([text])).to.deep.equal(whole);
    const bytes = Buffer.from(text);
    expect(await read(Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1)))).to.deep.equal(whole);
  });
});
