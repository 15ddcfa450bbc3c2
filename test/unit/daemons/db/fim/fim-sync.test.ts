import { expect } from 'chai';
import {
  fileAttributes,
  fileChecksum,
  type FileFacts,
  FimKit,
  fimState,
} from '../../../../support/syscheckd/fim-kit.js';

const HELLO = 'hello world\n';

function check(
  type: 'global' | 'left' | 'right',
  [begin, end, checksum, tail]: readonly string[],
  id = 1_700_001_000,
): string {
  const data = { begin, checksum, end, id, ...(tail === undefined ? {} : { tail }) };
  return JSON.stringify({ component: 'fim_file', data, type: `integrity_check_${type}` });
}

const failure = (begin: string, end: string, id = 1_700_001_000): string =>
  `fim_file dbsync checksum_fail {"begin":"${begin}","end":"${end}","id":${id}}`;

describe('Synchronisation of files', () => {
  let kit: FimKit;
  beforeEach(async () => {
    kit = await FimKit.open();
  });
  afterEach(() => kit.close());

  const send = async (...messages: readonly string[]): Promise<(string | undefined)[]> => {
    const answers: (string | undefined)[] = [];
    for (const message of messages) answers.push(await kit.sync('001', message));
    return answers;
  };

  describe('the worked example of the specification (5.3)', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const facts = (index: number): FileFacts => ({
      content: HELLO,
      mtime: 1_700_000_000 + index,
      inode: 200_000 + index,
    });
    const states = names.map((name, index) => fimState(`/etc/${name}`, fileAttributes(facts(index))));

    it('has the checksums of the table', () => {
      expect(names.map((_name, index) => fileChecksum(facts(index)))).to.deep.equal([
        '3f39d4406ddedbbb4b06c84e688ec43f027f2e19',
        'e282f39c76672f3f883cfd58a1e3b110c3b9d5a5',
        'b1f98ae97cfa4c40fe16dcdad56553b132aa8263',
        'f6c7f7cc067b6ba160ef275369210ef3d19a9f90',
        '845b0bac0d59c9f96e6e43350da02b241d8781b1',
      ]);
    });

    it('finds the one entry that differs, step by step', async () => {
      await send(...states);
      const wrong = { ...fileAttributes(facts(3)), checksum: 'c09a249f1c1a7684ee43077681d097b41912d3ad' };
      await send(fimState('/etc/d', wrong));

      expect(
        await send(
          check('global', ['/etc/a', '/etc/e', 'ab679e59e3accb211660b7a1a7d97c688ce8fd3a']),
          check('left', ['/etc/a', '/etc/b', '3bd8628bfeba939c1b641928224190afee36bc52', '/etc/c']),
          check('right', ['/etc/c', '/etc/e', '5eeee39e6809b9bb96ac266ed6c2d69aee22fcf3']),
          check('left', ['/etc/c', '/etc/c', '2e2f546f44a038e206688494e4dd2f710b260a32', '/etc/d']),
          check('right', ['/etc/d', '/etc/e', '89583461037dad525bde5241302fc8fd98710b1c']),
          check('left', ['/etc/d', '/etc/d', '3215dfeb207b4937cf076121f06fef4bcdab4b04', '/etc/e']),
          check('right', ['/etc/e', '/etc/e', '183652bce8e6a1049a66aa116d71acfd5e25c404']),
          states[3] ?? '',
        ),
      ).to.deep.equal([
        failure('/etc/a', '/etc/e'),
        undefined,
        failure('/etc/c', '/etc/e'),
        undefined,
        failure('/etc/d', '/etc/e'),
        failure('/etc/d', '/etc/d'),
        undefined,
        undefined,
      ]);
      expect(kit.rows('001').get('/etc/d')?.checksum).to.equal('f6c7f7cc067b6ba160ef275369210ef3d19a9f90');
      const global = check('global', ['/etc/a', '/etc/e', 'ab679e59e3accb211660b7a1a7d97c688ce8fd3a'], 1_700_001_300);
      expect(await send(global)).to.deep.equal([undefined]);
      expect(kit.database.syncInfo('001', 'fim_file')).to.deep.equal({
        lastAttempt: 1_700_001_300,
        lastCompletion: 1_700_001_300,
        attempts: 2,
        completions: 1,
        managerChecksum: 'ab679e59e3accb211660b7a1a7d97c688ce8fd3a',
        agentChecksum: 'ab679e59e3accb211660b7a1a7d97c688ce8fd3a',
      });
    });

    it('asks for everything when it has nothing', async () => {
      const [answer] = await send(check('global', ['/etc/a', '/etc/e', 'ab679e59e3accb211660b7a1a7d97c688ce8fd3a']));
      expect(answer).to.equal('fim_file dbsync no_data {"begin":"/etc/a","end":"/etc/e","id":1700001000}');
    });

    it('deletes what is outside of a global check, and between a left check and its tail, whatever the sums', async () => {
      await send(...states);
      await send(check('left', ['/etc/a', '/etc/b', '3bd8628bfeba939c1b641928224190afee36bc52', '/etc/d']));
      expect([...kit.rows('001').keys()]).to.deep.equal(['/etc/a', '/etc/b', '/etc/d', '/etc/e']);
      await send(check('global', ['/etc/b', '/etc/d', 'not the sum']));
      expect([...kit.rows('001').keys()]).to.deep.equal(['/etc/b', '/etc/d']);
    });

    it('answers from the sum it knows until an entry changes', async () => {
      const sums = (): { checks: number; cached: number } => {
        const { checks, cached } = kit.database.counters.sync;
        return { checks, cached };
      };
      const global = check('global', ['/etc/a', '/etc/e', 'ab679e59e3accb211660b7a1a7d97c688ce8fd3a']);
      await send(...states, global, global);
      expect(sums()).to.deep.equal({ checks: 2, cached: 1 });
      await kit.reopen();
      await send(global);
      expect(sums()).to.deep.equal({ checks: 1, cached: 1 });
      await kit.events('001', [
        JSON.stringify({
          type: 'event',
          data: { path: '/etc/a', type: 'modified', attributes: { type: 'file', checksum: 'other' } },
        }),
      ]);
      expect(await send(global)).to.deep.equal([failure('/etc/a', '/etc/e')]);
      await send(states[0] ?? '', global);
      expect(sums()).to.deep.equal({ checks: 3, cached: 1 });
      await kit.database.clearFiles(['001']);
      expect((await send(global))[0]).to.contain('no_data');
    });

    it('forgets everything when the agent has nothing', async () => {
      await send(...states);
      const clear = JSON.stringify({ component: 'fim_file', data: { id: 1_700_001_500 }, type: 'integrity_clear' });
      expect(await send(clear)).to.deep.equal([undefined]);
      expect(kit.rows('001').size).to.equal(0);
      const { lastCompletion, completions } = kit.database.syncInfo('001', 'fim_file') ?? {};
      expect({ lastCompletion, completions }).to.deep.equal({ lastCompletion: 1_700_001_500, completions: 1 });
    });
  });

  it('goes on as recorded when one entry is missing and one differs (agent-transcript.md 8)', async () => {
    const file = (index: number): FileFacts => ({
      content: `${index}\n`,
      mtime: 1_795_220_445,
      inode: 2_304_575 + index,
    });
    const rows: [string, Record<string, unknown>][] = [
      [
        '/fim/b.txt',
        {
          ...fileAttributes({ content: '', mtime: 0, inode: 0 }),
          checksum: '5e6efcc895808031f8ff9de7954367fdf9f8ddb5',
        },
      ],
      [
        '/fim/c.txt',
        {
          ...fileAttributes({ content: '', mtime: 0, inode: 0 }),
          checksum: 'dec6f8c9ab69efdf3bee8597024df9c7a93d007f',
        },
      ],
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((index): [string, Record<string, unknown>] => [
        `/fim/f${index}.txt`,
        fileAttributes(file(index)),
      ]),
    ];
    expect(fileChecksum(file(1))).to.equal('6e3aa6ce905ab8818d0334a665f768db8753db33');
    expect(fileChecksum(file(6))).to.equal('aec7488b2d4e874d9df1505a7e5c483a0d0bdf5c');
    await send(...rows.map(([path, attributes]) => fimState(path, attributes)));
    const id = 1_795_220_637;
    const global = check('global', ['/fim/b.txt', '/fim/f8.txt', '8c2470c63ea063f85ad03c77b89d4a95f25039a1'], id);
    expect(await send(global)).to.deep.equal([undefined]);

    await kit.events('001', [
      JSON.stringify({
        type: 'event',
        data: { path: '/fim/f3.txt', type: 'deleted', attributes: fileAttributes(file(3)) },
      }),
    ]);
    await send(fimState('/fim/f6.txt', { ...fileAttributes(file(6)), checksum: '0'.repeat(40) }));
    const left = (begin: string, end: string, tail: string, sum: string): string =>
      check('left', [`/fim/${begin}.txt`, `/fim/${end}.txt`, sum, `/fim/${tail}.txt`], id);
    const right = (begin: string, end: string, sum: string): string =>
      check('right', [`/fim/${begin}.txt`, `/fim/${end}.txt`, sum], id);
    const fail = (begin: string, end: string): string => failure(`/fim/${begin}.txt`, `/fim/${end}.txt`, id);
    const trace: readonly (readonly [string, string | undefined])[] = [
      [global, fail('b', 'f8')],
      [left('b', 'f3', 'f4', 'e8eec3e744dfeaa966a6802b73dbc67bf365bc6f'), fail('b', 'f3')],
      [right('f4', 'f8', 'eb95318f2c17c560707a0683552e403056e82e62'), fail('f4', 'f8')],
      [left('b', 'c', 'f1', '9446b0f92af29a18416acbd7ba17304a90fe3639'), undefined],
      [right('f1', 'f3', 'b038ab523283e1c9be24f1ac9dec86b930cf9196'), fail('f1', 'f3')],
      [left('f4', 'f5', 'f6', 'f5bb5e43669aa8c45171dbc4079f104d0b35cd4f'), undefined],
      [right('f6', 'f8', '94b1b0e665312d8d737309d64364676dede60de9'), fail('f6', 'f8')],
      [left('f1', 'f1', 'f2', 'ab167924344af7622591d0cec224679f030f89db'), undefined],
      [right('f2', 'f3', '11741fb77315ff9ca893273e7b8c333c71fcc948'), fail('f2', 'f3')],
      [left('f6', 'f6', 'f7', '0cf81a715d0d4c260a59b1af6ff2653db850204a'), fail('f6', 'f6')],
      [right('f7', 'f8', '5233c7f13200883e511b493eabe8681d051505fb'), undefined],
      [left('f2', 'f2', 'f3', '1e2d61f6146cb8d38b2a5c7721eac3db867cb227'), undefined],
      [
        right('f3', 'f3', '187a67c9b1fe5a99edbcdac10aa070c224fff41a'),
        `fim_file dbsync no_data {"begin":"/fim/f3.txt","end":"/fim/f3.txt","id":${id}}`,
      ],
      [fimState('/fim/f6.txt', fileAttributes(file(6)), 1_795_220_445), undefined],
      [fimState('/fim/f3.txt', fileAttributes(file(3)), 1_795_220_445), undefined],
      [global, undefined],
    ];
    for (const [message, answer] of trace) expect(await kit.sync('001', message), message).to.equal(answer);
    expect([...kit.rows('001').keys()]).to.deep.equal(rows.map(([path]) => path));
  });

  it('keeps the order of messages that are not awaited', async () => {
    const facts: FileFacts = { content: HELLO, mtime: 1, inode: 1 };
    const sum = '0'.repeat(40);
    const answers = await Promise.all([
      kit.sync('001', fimState('/x', fileAttributes(facts))),
      kit.sync('001', check('global', ['/x', '/x', sum])),
      kit.sync('001', fimState('/y', fileAttributes(facts))),
      kit.sync('001', check('global', ['/y', '/y', sum])),
      kit.sync('002', check('global', ['/y', '/y', sum])),
    ]);
    expect(answers.map((answer) => answer?.split(' ')[2])).to.deep.equal([
      undefined,
      'checksum_fail',
      undefined,
      'checksum_fail',
      'no_data',
    ]);
    expect([...kit.rows('001').keys()]).to.deep.equal(['/y']);
  });

  it('takes several messages in their order, whatever is wrong with one', async () => {
    const state = fimState('/x', fileAttributes({ content: HELLO, mtime: 1, inode: 1 }));
    const sum = '0'.repeat(40);
    const texts = [
      state,
      '{',
      check('global', ['/x', '/x', sum]),
      state.replace('fim_file', 'x'),
      check('right', ['/z', '/z', sum]),
    ];
    const answer = kit.handlers['fim.sync_all']({
      agents: [{ agent: '001', messages: texts.map((text) => Buffer.from(text)) }],
    });
    const { orders = [], failed, reason } = (await answer).answers[0] ?? {};
    expect(orders.map((order) => Buffer.from(order).toString().split(' ')[2])).to.deep.equal([
      'checksum_fail',
      'no_data',
    ]);
    expect({ failed, reason }).to.deep.equal({ failed: 2, reason: 'the message is no JSON with component and type' });
    expect([...kit.rows('001').keys()]).to.deep.equal(['/x']);
  });

  it('refuses what would delete too much or says nothing', async () => {
    await send(fimState('/b', fileAttributes({ content: HELLO, mtime: 1, inode: 1 })));
    const bad = [
      JSON.stringify({ component: 'syscollector_packages', type: 'integrity_clear', data: { id: 1 } }),
      'no json',
      '[]',
      JSON.stringify({ component: 'nonsense', type: 'integrity_clear', data: { id: 1 } }),
      JSON.stringify({ component: 'fim_file', type: 'integrity_clear', data: {} }),
      JSON.stringify({ component: 'fim_file', type: 'nonsense', data: { id: 1 } }),
      check('left', ['/x', '/y', '']),
      check('global', ['/y', '/x', '']),
      JSON.stringify({
        component: 'fim_file',
        type: 'integrity_check_global',
        data: { begin: '/x', end: '/y', id: 1 },
      }),
      JSON.stringify({ component: 'fim_file', type: 'state', data: { index: '', attributes: { type: 'file' } } }),
    ];
    for (const message of bad) {
      const code = await kit.sync('001', message).then(
        () => 'none',
        (error: unknown) => (error as { code: string }).code,
      );
      expect(code, message).to.equal('bad_message');
    }
    expect([...kit.rows('001').keys()]).to.deep.equal(['/b']);
    expect(kit.database.counters.refused.malformed).to.equal(bad.length);
    expect(kit.logger.lines.filter((line) => line.startsWith('warn'))).to.have.length(1);
  });

  it('takes paths as bytes: no UTF-8, escapes, quotes and percent signs, longer than usual', async () => {
    const attributes = JSON.stringify(fileAttributes({ content: HELLO, mtime: 1, inode: 1 }));
    const state = (path: Buffer): Buffer =>
      Buffer.concat([
        Buffer.from(`{"component":"fim_file","data":{"attributes":${attributes},"index":"`),
        path,
        Buffer.from('","timestamp":1},"type":"state"}'),
      ]);
    const paths: [string | Buffer, string][] = [
      [Buffer.from([0x2f, 0xff, 0xe9]), '/\u00ff\u00e9'],
      [
        Buffer.from([0x2f, 0xfe, ...Buffer.from('\\u00e9\\ud83d\\ude00')]),
        '/\u00fe\u00c3\u00a9\u00f0\u009f\u0098\u0080',
      ],
      ["/it's 100%", "/it's 100%"],
      ['/\\"quoted\\" \\u00e9', '/"quoted" \u00c3\u00a9'],
      [`/${'long/'.repeat(390)}`, `/${'long/'.repeat(390)}`],
    ];
    for (const [path] of paths) {
      expect(await kit.sync('001', state(Buffer.from(path as string, 'utf8')))).to.equal(undefined);
    }
    expect([...kit.rows('001').keys()].sort()).to.deep.equal(paths.map(([, stored]) => stored).sort());
    const begin = Buffer.from([0x2f, 0xfe]).toString('latin1');
    const end = Buffer.from([0x2f, 0xff, 0xff]).toString('latin1');
    const data = `{"begin":"${begin}","checksum":"x","end":"${end}","id":7}`;
    const message = `{"component":"fim_file","data":${data},"type":"integrity_check_right"}`;
    expect(await kit.sync('001', Buffer.from(message, 'latin1'))).to.equal(
      `fim_file dbsync checksum_fail {"begin":"${begin}","end":"${end}","id":7}`,
    );
    await send(fimState(`/${'x'.repeat(2000)}`, fileAttributes({ content: HELLO, mtime: 1, inode: 1 })));
    expect(kit.database.counters.refused.path_too_long).to.equal(1);
  });
});
