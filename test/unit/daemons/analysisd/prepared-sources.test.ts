import { expect } from 'chai';
import { PreparedSources } from '../../../../daemons/analysisd/pipeline/prepared-sources.js';
import type { BusAgent, ReceivedEvent } from '../../../../lib/bus/bus-event.js';
import { EventHeads } from '../../../../lib/journal/event-heads.js';
import { encodeEvents } from '../../../support/bus/listed-batch.js';

const WEB: BusAgent = { id: '001', name: 'web', ip: 'any', labels: new Map([['team', 'blue']]) };

function event(sequence: number, location: string, agent?: BusAgent): ReceivedEvent {
  const message = Buffer.from('x');
  return { queue: '1', location, message, receivedAt: 0, agent, stream: 's', sequence };
}

/** A record of one event for each location and agent. */
function record(...from: [string, BusAgent?][]) {
  const payload = encodeEvents(from.map(([location, agent], index) => event(index + 1, location, agent)));
  return { content: new EventHeads().read(payload), payload };
}

describe('sources of events', () => {
  it('are the same in every record that says the same of them', () => {
    const sources = new PreparedSources();
    const one = record(['syslog', WEB], ['auth', WEB], ['syslog']);
    const other = record(['x'], ['auth', { ...WEB, labels: new Map(WEB.labels) }], ['syslog', WEB]);
    const [syslog, auth, own] = [0, 1, 2].map((index) => sources.of(one, index));
    expect(sources.of(other, 1)).to.equal(auth);
    expect(sources.of(other, 2)).to.equal(syslog);
    expect(syslog).to.deep.include({ queue: '1', location: '(web) any->syslog', component: 'others' });
    expect(syslog?.labels).to.deep.equal(WEB.labels);
    expect(own).to.deep.include({ location: 'syslog', agent: undefined });
  });

  it('differ where queue, location or anything about the agent does', () => {
    const sources = new PreparedSources();
    const agents = [
      WEB,
      { ...WEB, name: 'db' },
      { ...WEB, ip: '192.0.2.7' },
      { ...WEB, labels: new Map([['team', 'red']]) },
    ];
    const found = agents.map((agent) => sources.of(record(['syslog', agent]), 0));
    expect(new Set(found).size).to.equal(agents.length);
    expect(found.map(({ location }) => location)).to.deep.equal([
      '(web) any->syslog',
      '(db) any->syslog',
      '(web) 192.0.2.7->syslog',
      '(web) any->syslog',
    ]);
    expect(found.map(({ labels }) => labels?.get('team'))).to.deep.equal(['blue', 'blue', 'blue', 'red']);
  });

  it('are kept up to a number, and read again beyond it', () => {
    const sources = new PreparedSources(2);
    const first = sources.of(record(['a']), 0);
    sources.of(record(['b']), 0);
    expect(sources.of(record(['a']), 0)).to.equal(first);
    sources.of(record(['c']), 0);
    const again = sources.of(record(['a']), 0);
    expect(again).to.deep.equal(first);
    expect(again).to.not.equal(first);
    const long = 'l'.repeat(2000);
    expect(sources.of(record([long]), 0))
      .to.deep.equal(sources.of(record([long]), 0))
      .and.to.deep.include({ location: long });
  });
});
