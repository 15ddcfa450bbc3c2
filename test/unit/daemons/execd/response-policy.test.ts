import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseArConf } from '../../../../daemons/execd/response-commands.js';
import { parseResponseMessage } from '../../../../daemons/execd/response-message.js';
import { ResponseKit, STATELESS } from '../../../support/execd/response-kit.js';

describe('what an agent runs', () => {
  let kit: ResponseKit;

  beforeEach(async () => {
    kit = new ResponseKit('agent');
    mkdirSync(kit.home.path('etc', 'shared'));
    await kit.open();
  });
  afterEach(async () => {
    await kit.close();
    kit.home.remove();
  });

  const programOf = (command: string) => {
    const message = parseResponseMessage(kit.message(command, '192.0.2.1'));
    return kit.policy.programOf(kit.policy.accept(message));
  };
  const share = (text: string): void => {
    writeFileSync(kit.home.path('etc', 'shared', 'ar.conf'), text);
  };

  it('is the first program that there is of those ar.conf names, read again for a name that is new', () => {
    kit.script('block', STATELESS);
    expect(() => programOf('block60')).to.throw('(1311)');
    share('restart-wazuh0 - restart-wazuh - 0\nblock60 - block.exe - 60\nblock60 - block - 60\n');
    expect(programOf('block60')).to.deep.equal({ program: 'active-response/bin/block', timeout: 60 });
    share('new0 - block - 0\n');
    expect(programOf('block60')).to.deep.include({ timeout: 60 });
    expect(programOf('new0')).to.deep.include({ timeout: 0 });
    expect(() => programOf('block60')).to.throw('(1311)');
  });

  it('is a program by its own name, too, with the arguments of the message', () => {
    kit.script('block', STATELESS);
    expect(programOf('!block')).to.deep.equal({ program: 'active-response/bin/block', timeout: 0 });
    const message = parseResponseMessage(kit.message('!block', '192.0.2.1'));
    expect(kit.policy.accept(message).body.parameters['extra_args']).to.deep.equal(['-from', 'message']);
    for (const name of ['!', '!../block', '!a/b', '!.', '!..', '!.hidden', '!a\0b']) {
      expect(() => programOf(name), name).to.throw('(1318)');
    }
    expect(() => programOf('!absent')).to.throw(
      "(1311): Invalid command name '!absent' provided: active-response/bin has",
    );
  });

  it('takes no line of ar.conf that names something else than a file', () => {
    const text = 'a0 - ../a - 0\nb0 - b/c - 0\nc0 - c - x\n\nd0 -  - 0\ne60 - my script - 60\r\nf0 - .. - 0';
    expect([...parseArConf(text)]).to.deep.equal([['e60', { executables: ['my script'], timeout: 60 }]]);
  });

  it('says when ar.conf cannot be read', () => {
    mkdirSync(kit.home.path('etc', 'shared', 'ar.conf'));
    expect(() => programOf('a0')).to.throw('(1311)');
    expect(kit.logger.lines.join('\n')).to.match(
      /error: \(1103\): Could not open file '.*ar\.conf': .*not a regular file/,
    );
    chmodSync(kit.home.path('etc', 'shared'), 0o750);
  });
});
