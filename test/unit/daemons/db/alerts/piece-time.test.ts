import { expect } from 'chai';
import type { AlertPlace } from '../../../../../daemons/db/alerts/alert-place.js';
import { AlertQuestion, type AlertScope } from '../../../../../daemons/db/alerts/alert-question.js';
import { countAlerts } from '../../../../../daemons/db/alerts/count-alerts.js';
import { searchAlerts, type SearchOrder } from '../../../../../daemons/db/alerts/search-alerts.js';
import { AlertKit, type OpenedKit, variedAlert } from '../../../../support/db/alert-kit.js';

const SEGMENTS = 4;
const OF_EACH = 300;

/** The time of a piece: over when it is first looked at, and over no more once it began anew. */
function lateTime() {
  let isLate = true;
  return {
    isOver: () => isLate,
    again: () => {
      isLate = false;
    },
  };
}

describe('The time of a piece of a question about alerts', () => {
  const kit = new AlertKit();
  let opened: OpenedKit;

  before(async () => {
    opened = kit.open();
    for (let segment = 0; segment < SEGMENTS; segment += 1) {
      kit.files().write(...Array.from({ length: OF_EACH }, (_none, index) => variedAlert(segment * OF_EACH + index)));
      await opened.readAll();
      if (segment < SEGMENTS - 1) await opened.reader.seal();
    }
    expect(opened.reader.segments.filter(({ rows }) => rows > 0)).to.have.length(SEGMENTS);
  });

  after(() => {
    kit.remove();
  });

  /** Numbers of alerts that each piece of a search finds. */
  const searched = (scope: AlertScope, order: SearchOrder): number[] => {
    const question = new AlertQuestion(scope, 0);
    const found: number[] = [];
    for (let cursor: AlertPlace | undefined; ;) {
      const limits = { order, cursor, limit: 10_000, bytes: 100_000_000, ...lateTime() };
      const { alerts, next, isDone } = searchAlerts(opened.reader.segments, question, limits);
      if (isDone) return found;
      found.push(alerts.length);
      expect(found).to.have.length.at.most(SEGMENTS);
      cursor = next;
    }
  };

  it('is over for a search after one segment that there was no time for, and the next piece goes on behind it', () => {
    const all = [OF_EACH, OF_EACH, OF_EACH, OF_EACH];
    expect(searched({}, 'desc')).to.deep.equal(all);
    expect(searched({}, 'asc')).to.deep.equal(all);
    expect(searched({ search: 'failed' }, 'desc').reduce((sum, one) => sum + one, 0)).to.equal(
      opened.page({ search: 'failed' }).length,
    );
    expect(searched({ search: 'nowhere' }, 'desc'), 'there is nothing to look at').to.deep.equal([0, 0, 0, 0]);
  });

  it('is over for a count after one segment that there was no time for, and the next piece goes on before it', () => {
    const scope = { search: 'failed' };
    const question = new AlertQuestion(scope, 0);
    const counted: number[] = [];
    for (let cursor: AlertPlace | undefined; ;) {
      const { counts, next } = countAlerts(opened.reader.segments, question, {}, { cursor, ...lateTime() });
      counted.push(counts.total);
      if (next === undefined) break;
      expect(counted).to.have.length.at.most(SEGMENTS);
      cursor = next;
    }
    expect(counted.pop(), 'nothing was left').to.equal(0);
    expect(counted).to.have.length(SEGMENTS);
    expect(counted.every((count) => count > 0)).to.equal(true);
    expect(counted.reduce((sum, one) => sum + one, 0)).to.equal(opened.page(scope).length);
  });
});
