import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { KeyRegistry, KeyWriteError, newRawKey } from '../../../../daemons/authd/key-registry.js';
import { AgentKey } from '../../../../lib/agentlink/agent-key.js';
import { AgentAddress } from '../../../../lib/network/agent-address.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

describe('KeyRegistry', () => {
  let directory: string;
  let path: string;
  let logger: RecordingLogger;
  let prepare: () => Promise<void>;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-keys-'));
    mkdirSync(join(directory, 'etc'));
    path = join(directory, 'etc', 'client.keys');
    logger = new RecordingLogger();
    prepare = () => Promise.resolve();
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  async function open(): Promise<KeyRegistry> {
    const registry = new KeyRegistry({
      path,
      lastIdPath: join(directory, 'last-id'),
      logger,
      prepare: () => prepare(),
    });
    await registry.load();
    return registry;
  }

  const agent = (id: string, name: string, ip = AgentAddress.any) => new AgentKey(id, name, ip, newRawKey());
  const add = (registry: KeyRegistry, name: string) =>
    registry.change({ remove: [], add: [agent(registry.nextId(), name)], purge: false });
  const names = () =>
    readFileSync(path, 'latin1')
      .split('\n')
      .map((line) => line.split(' ')[1]);

  it('shares one write between changes that come together', async () => {
    let writes = 0;
    prepare = () => Promise.resolve(void writes++);
    const registry = await open();
    await Promise.all(Array.from({ length: 300 }, (_, index) => add(registry, `agent${index}`)));
    expect(writes).to.be.lessThan(4);
    expect(names()).to.have.length(301);
    expect(new Set([...registry.agents].map(({ id }) => id)).size).to.equal(300);
    expect(readdirSync(join(directory, 'etc'))).to.deep.equal(['client.keys']);
  });

  it('undoes what could not be written and goes on', async () => {
    const registry = await open();
    await add(registry, 'kept');
    prepare = () => Promise.reject(new Error('no space'));
    const failed = await Promise.allSettled([add(registry, 'lost1'), add(registry, 'lost2')]);
    for (const result of failed) expect(result).to.have.property('reason').that.is.instanceOf(KeyWriteError);
    expect(registry.byName('lost1')).to.equal(undefined);
    expect(registry.byName('kept')?.id).to.equal('001');
    prepare = () => Promise.resolve();
    await add(registry, 'next');
    expect(names()).to.deep.equal(['kept', 'next', undefined]);
    expect(registry.byName('next')?.id).to.equal('004');
  });

  it('reports a file that cannot be written, and writes it when it can', async () => {
    const registry = await open();
    mkdirSync(join(`${path}.new`, 'in the way'), { recursive: true });
    const failure: unknown = await add(registry, 'web01').catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(KeyWriteError);
    expect(logger.lines.join()).to.contain(`Unable to write '${path}'`);
    rmSync(`${path}.new`, { recursive: true });
    await add(registry, 'web01');
    expect(names()).to.deep.equal(['web01', undefined]);
  });

  it('gives no id twice, whatever is added, removed and restarted', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), count: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant('remove' as const), which: fc.nat(20), purge: fc.boolean() }),
      fc.record({ kind: fc.constant('restart' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        for (const file of [path, join(directory, 'last-id')]) rmSync(file, { force: true });
        let registry = await open();
        const given: number[] = [];
        const live = new Map<string, string>();
        for (const action of steps) {
          if (action.kind === 'restart') {
            registry = await open();
          } else if (action.kind === 'add') {
            const agents = Array.from({ length: action.count }, () => {
              const added = agent(registry.nextId(), `agent${given.length}`);
              given.push(Number(added.id));
              live.set(added.id, added.rawKey);
              return registry.change({ remove: [], add: [added], purge: false });
            });
            await Promise.all(agents);
          } else {
            const id = [...live.keys()][action.which];
            if (id === undefined) continue;
            live.delete(id);
            await registry.change({ remove: [id], purge: action.purge });
          }
        }
        expect(given).to.deep.equal([...new Set(given)].sort((a, b) => a - b));
        const kept = [...(await open()).agents].map(({ id, rawKey }) => [id, rawKey]);
        expect(kept).to.deep.equal([...live]);
      }),
      { numRuns: 20 },
    );
  });

  it('keeps the largest id where the lines of removed agents are purged', async () => {
    let registry = await open();
    for (const name of ['first', 'second', 'third']) await add(registry, name);
    await registry.change({ remove: ['002', '003'], purge: true });
    registry = await open();
    expect(registry.nextId()).to.equal('004');
    await registry.change({ remove: ['001'], purge: false });
    expect(readFileSync(path, 'latin1')).to.match(/^001 !first any [0-9a-f]{64}\n$/);
    rmSync(join(directory, 'last-id'));
    expect((await open()).nextId()).to.equal('002');
  });

  it('finds agents by name and address, several of one name after another', async () => {
    const key = newRawKey();
    writeFileSync(path, `001 twin 10.0.0.1 ${key}\n002 twin 10.0.0.1 ${key}\n003 !twin any ${key}\nnonsense\n`);
    const registry = await open();
    expect(registry.complete).to.equal(false);
    expect(logger.lines.join()).to.contain('client.keys:4').and.not.contain(key);
    expect(registry.byName('twin')?.id).to.equal('001');
    await registry.change({ remove: ['001'], purge: false });
    expect(registry.byAddress('10.0.0.1')?.id).to.equal('002');
    expect(registry.byAddress('any')).to.equal(undefined);
    expect(registry.nextId()).to.equal('004');
  });

  it('adds new agents to the file and replaces it for any other change', async () => {
    const registry = await open();
    await add(registry, 'web01');
    const inode = statSync(path).ino;
    const adding = Array.from({ length: 500 }, (_, index) => add(registry, `agent${index}`));
    await Promise.all(adding);
    for (let index = 500; index < 520; index += 1) await add(registry, `agent${index}`);
    expect(statSync(path).ino, 'the same file').to.equal(inode);
    expect(statSync(path).mode & 0o777).to.equal(0o640);
    expect(names()).to.have.length(522);
    expect(readdirSync(join(directory, 'etc'))).to.deep.equal(['client.keys']);
    await registry.change({ remove: ['003'], purge: false });
    expect(statSync(path).ino, 'another file').not.to.equal(inode);
    await add(registry, 'last');
    expect(names().slice(-3)).to.deep.equal(['!agent1', 'last', undefined]);
    const again = await open();
    expect([...again.agents].map(({ name }) => name)).to.deep.equal([...registry.agents].map(({ name }) => name));
    expect(again.nextId()).to.equal('523');
  });

  it('drops of lines that were being added what was not written whole, wherever it was killed', async () => {
    const registry = await open();
    await add(registry, 'kept');
    const before = readFileSync(path, 'latin1');
    await add(registry, 'whole');
    await add(registry, 'torn');
    const after = readFileSync(path, 'latin1');
    const torn = after.length - after.indexOf('003 torn');
    for (let length = before.length; length <= after.length; length += 1) {
      writeFileSync(path, after.slice(0, length));
      writeFileSync(`${path}.adding`, '');
      logger.lines.splice(0);
      const restarted = await open();
      const whole = [before.length, after.length - torn, after.length].findLast((end) => end <= length);
      expect(readFileSync(path, 'latin1'), String(length)).to.equal(after.slice(0, whole));
      expect(logger.lines).to.deep.equal(
        whole === length ? [] : [`warn: The last line of '${path}' was not written whole: it is dropped.`],
      );
      await add(restarted, 'next');
      expect(names().slice(-2)).to.deep.equal(['next', undefined]);
      expect(readdirSync(join(directory, 'etc'))).to.deep.equal(['client.keys']);
    }
  });

  it('keeps a last line without an end that somebody else wrote', async () => {
    writeFileSync(path, `001 byhand any abcd`);
    const registry = await open();
    expect(registry.byName('byhand')?.rawKey).to.equal('abcd');
    await add(registry, 'web01');
    expect(names()).to.deep.equal(['byhand', 'web01', undefined]);
  });

  it('undoes lines that could not be added', async () => {
    const registry = await open();
    await add(registry, 'kept');
    mkdirSync(`${path}.adding`);
    const failure: unknown = await add(registry, 'lost').catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(KeyWriteError);
    expect(registry.byName('lost')).to.equal(undefined);
    rmSync(`${path}.adding`, { recursive: true });
    await add(registry, 'next');
    expect(names()).to.deep.equal(['kept', 'next', undefined]);
  });

  it('puts a file in the place of a link', async () => {
    const target = join(directory, 'target');
    writeFileSync(target, `001 byhand any ${newRawKey()}\n`);
    symlinkSync(target, path);
    const registry = await open();
    await Promise.all([add(registry, 'web01'), add(registry, 'web02')]);
    expect(lstatSync(path).isFile()).to.equal(true);
    expect(names()).to.deep.equal(['byhand', 'web01', 'web02', undefined]);
    expect(readFileSync(target, 'latin1')).not.to.include('web01');
  });

  it('adds nothing to what others have put in its place meanwhile', async () => {
    const registry = await open();
    await add(registry, 'web01');
    prepare = () => {
      prepare = () => Promise.resolve();
      writeFileSync(`${path}.other`, `${readFileSync(path, 'latin1')}009 byhand any ${newRawKey()}\n`);
      renameSync(`${path}.other`, path);
      return Promise.resolve();
    };
    await add(registry, 'web02');
    expect(names()).to.deep.equal(['web01', 'byhand', 'web02', undefined]);
    expect(registry.byName('byhand')?.id).to.equal('009');
  });

  it('replaces nothing that others have edited or put in its place meanwhile', async () => {
    const registry = await open();
    for (const name of ['web01', 'web02', 'web03']) await add(registry, name);
    const edits = [
      (text: string) => writeFileSync(path, text),
      (text: string) => {
        writeFileSync(`${path}.other`, text);
        renameSync(`${path}.other`, path);
      },
    ];
    for (const [index, edit] of edits.entries()) {
      prepare = () => {
        prepare = () => Promise.resolve();
        edit(`${readFileSync(path, 'latin1')}00${7 + index} byhand${index} any ${newRawKey()}\n`);
        return Promise.resolve();
      };
      await registry.change({ remove: [`00${1 + index}`], purge: true });
    }
    expect(names()).to.deep.equal(['web03', 'byhand0', 'byhand1', undefined]);
    expect(registry.byName('byhand1')?.id).to.equal('008');
    expect(readdirSync(join(directory, 'etc'))).to.deep.equal(['client.keys']);
  });

  it('gives up where others change the file all the time, and goes on when they do not', async () => {
    const registry = await open();
    for (const name of ['web01', 'web02']) await add(registry, name);
    let edits = 0;
    prepare = () => {
      edits += 1;
      appendFileSync(path, `# ${edits}\n`);
      return Promise.resolve();
    };
    const failure = await registry.change({ remove: ['001'], purge: true }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(KeyWriteError);
    expect([edits, registry.byName('web01')?.id]).to.deep.equal([21, '001']);
    prepare = () => Promise.resolve();
    await registry.change({ remove: ['001'], purge: true });
    expect(registry.byName('web01')).to.equal(undefined);
  });

  it('adds its lines once when somebody else adds one at the same time', async () => {
    const registry = await open();
    await add(registry, 'web01');
    const lines = `009 byhand any ${newRawKey()}\n`;
    await beforeNextWrite(path, () => {
      appendFileSync(path, lines);
    });
    await add(registry, 'web02');
    expect(names().toSorted()).to.deep.equal(['byhand', 'web01', 'web02', undefined]);
    expect([...registry.agents].map(({ id }) => id).toSorted()).to.deep.equal(['001', '002', '009']);
    await add(registry, 'web03');
    expect(registry.byName('web03')?.id).to.equal('010');
  });

  it('starts when the file went away after a crash while lines were added', async () => {
    writeFileSync(`${path}.adding`, '');
    const registry = await open();
    expect(readdirSync(join(directory, 'etc'))).to.deep.equal([]);
    await add(registry, 'web01');
    writeFileSync(`${path}.adding`, '');
    renameSync(path, join(directory, 'target'));
    symlinkSync(join(directory, 'target'), path);
    expect((await open()).byName('web01')?.id).to.equal('001');
  });

  it('does not follow a link under the temporary name', async () => {
    const registry = await open();
    const victim = join(directory, 'victim');
    writeFileSync(victim, 'precious');
    symlinkSync(victim, `${path}.new`);
    await add(registry, 'web01');
    expect(readFileSync(victim, 'utf8')).to.equal('precious');
  });

  it('writes on a file that others replaced meanwhile', async () => {
    const registry = await open();
    await add(registry, 'web01');
    writeFileSync(`${path}.other`, `${readFileSync(path, 'latin1')}009 byhand any ${newRawKey()}\n`);
    renameSync(`${path}.other`, path);
    chmodSync(path, 0o640);
    await add(registry, 'web02');
    expect(names()).to.deep.equal(['web01', 'byhand', 'web02', undefined]);
    expect(registry.nextId()).to.equal('010');
  });
});

/** Has something happen when the next file is written: between the look whether a file changed and the lines added to it. */
async function beforeNextWrite(path: string, happen: () => void): Promise<void> {
  const file = await openFile(path);
  const handles = Object.getPrototypeOf(file) as FileHandle;
  await file.close();
  const writeFile = handles.writeFile;
  handles.writeFile = function (this: FileHandle, ...options) {
    handles.writeFile = writeFile;
    happen();
    return writeFile.apply(this, options);
  };
}
