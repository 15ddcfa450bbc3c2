import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { AgentLink } from '../../../../daemons/remoted/agent-link.js';
import { KeyWatcher } from '../../../../daemons/remoted/key-watcher.js';
import { CounterFiles } from '../../../../daemons/remoted/link/counter-files.js';
import { KeyStore } from '../../../../daemons/remoted/link/key-store.js';
import { RemotedCounters } from '../../../../daemons/remoted/remoted-counters.js';
import type { ClientKeys } from '../../../../lib/agentlink/client-keys.js';
import { ClientKeysFile } from '../../../../lib/agentlink/client-keys-file.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

class CountingFile extends ClientKeysFile {
  whole = 0;

  override read(): Promise<ClientKeys> {
    this.whole += 1;
    return super.read();
  }
}

describe('KeyWatcher', () => {
  const line = (number: number, name = `agent${number}`) =>
    `${String(number).padStart(3, '0')} ${name} any ${'k'.repeat(64)}\n`;
  let home: TemporaryHome;
  let path: string;
  let file: CountingFile;
  let store: KeyStore<AgentLink>;
  let removed: string[];
  let now: number;
  let watcher: KeyWatcher;

  beforeEach(async () => {
    home = new TemporaryHome();
    path = home.path('etc', 'client.keys');
    writeFileSync(path, line(1) + line(2));
    file = new CountingFile(path);
    store = new KeyStore();
    removed = [];
    now = 0;
    watcher = new KeyWatcher({
      file,
      store,
      counterFiles: new CounterFiles(home.path('queue', 'rids'), () => {}),
      counters: new RemotedCounters(),
      logger: new RecordingLogger(),
      removed: ({ id }) => removed.push(id),
      now: () => now,
    });
    await watcher.start();
    watcher.stop();
  });
  afterEach(() => home.remove());

  const names = () => Array.from(store.agents, ({ name }) => name);

  it('reads only new agents while agents are added', async () => {
    const first = store.byId('001');
    for (let number = 3; number <= 50; number += 1) {
      appendFileSync(path, line(number));
      await watcher.reload();
      await watcher.reload();
    }
    expect(names()).to.deep.equal(Array.from({ length: 50 }, (_, index) => `agent${index + 1}`));
    expect(store.byId('001')).to.equal(first);
    expect(file.whole).to.equal(1);
  });

  it('reads the whole file for any other change, and some time after agents were added', async () => {
    appendFileSync(path, line(3));
    await watcher.reload();
    writeFileSync(path, line(1) + line(3));
    await watcher.reload();
    expect([names(), removed, file.whole]).to.deep.equal([['agent1', 'agent3'], ['002'], 2]);
    appendFileSync(path, line(3, 'again'));
    await watcher.reload();
    expect([names(), file.whole], 'a line of an agent there is').to.deep.equal([['agent1', 'agent3'], 3]);
    // As an editor that writes the file in its place: the old end of a large file looks as it did.
    writeFileSync(path, Array.from({ length: 100 }, (_, index) => line(index + 1)).join(''));
    await watcher.reload();
    writeFileSync(path, readFileSync(path, 'latin1').replace('agent1 ', 'other1 ') + line(101));
    await watcher.reload();
    expect(store.byId('101')?.name).to.equal('agent101');
    now += 60_000;
    await watcher.reload();
    expect(store.byId('001')?.name).to.equal('other1');
  });
});
