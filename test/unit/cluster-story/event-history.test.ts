import { expect } from 'chai';
import { EventHistory } from '../../cluster-story/event-history.js';

describe('events of a cluster', () => {
  const alerts = (n1: string[], n2: string[] = []) =>
    new Map([
      ['n1', n1],
      ['n2', n2],
    ]);

  it('have one alert when they were acknowledged, and one at most without a clear answer', () => {
    const events = new EventHistory();
    const [done, lost, made] = [events.take('n1'), events.take('n1'), events.take('n2')];
    events.settle([done], 'done');
    expect(events.breaches(alerts([done]))).to.deep.equal([]);
    expect(events.breaches(alerts([done, lost], [made]))).to.deep.equal([]);
    expect(events.counts()).to.deep.equal({ done: 1, refused: 0, unknown: 2 });
  });

  it('are missed, and found when they are there twice, at another node, after a refusal or from nowhere', () => {
    const events = new EventHistory();
    const [first, second, third, fourth] = ['n1', 'n1', 'n1', 'n1'].map((node) => events.take(node));
    events.settle([first ?? '', third ?? ''], 'done');
    events.settle([fourth ?? ''], 'refused');
    expect(events.breaches(alerts(['n1-2', 'n1-2', 'n1-4'], ['n1-3', 'n9-9']))).to.deep.equal([
      'n2 has an alert of event n1-3, which was sent to n1',
      'n2 has an alert of event n9-9, which nobody sent',
      'event n1-1 was acknowledged, and has no alert',
      'event n1-2 has 2 alerts',
      'event n1-4 was refused, and has an alert',
    ]);
    expect(second).to.equal('n1-2');
  });
});
