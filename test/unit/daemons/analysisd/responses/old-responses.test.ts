import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { removeOldResponses } from '../../../../../daemons/analysisd/responses/old-responses.js';
import { TemporaryHome } from '../../../../support/temporary-home.js';

describe('old responses', () => {
  const home = new TemporaryHome();
  after(() => {
    home.remove();
  });

  it('are removed after 7 days, with directories that are empty then; nothing else is', () => {
    const write = (path: string): string => {
      const whole = home.path('queue/responses', path);
      mkdirSync(dirname(whole), { recursive: true });
      writeFileSync(whole, '{}\n');
      return path;
    };
    const old = [
      '2025/Dec/ossec-responses-31.json',
      '2026/Jan/ossec-responses-02.json',
      '2026/Jan/ossec-responses-02-001.json',
    ];
    const kept = ['2026/Jan/ossec-responses-03.json', '2026/Jan/ossec-responses-10.json', '2026/Jan/notes.txt'];
    for (const path of [...old, ...kept]) write(path);
    const there = (path: string) => existsSync(home.path('queue/responses', path));
    removeOldResponses(home, new Date(2026, 0, 10, 0, 1));
    expect([...old, ...kept].filter(there)).to.deep.equal(kept);
    expect(['2025', '2026/Jan'].filter(there)).to.deep.equal(['2026/Jan']);
  });

  it('need not be there', () => {
    const empty = new TemporaryHome();
    removeOldResponses(empty, new Date());
    empty.remove();
  });
});
