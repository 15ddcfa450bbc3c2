import { expect } from 'chai';
import type { Analysis } from '../../../../../daemons/analysisd/analysis.js';
import { Counters } from '../../../../../daemons/analysisd/counters.js';
import type { AppendingOutputs } from '../../../../../daemons/analysisd/pipeline/appending-outputs.js';
import { AnalysisThreads } from '../../../../../daemons/analysisd/threads/analysis-threads.js';
import type { ThreadConfiguration } from '../../../../../daemons/analysisd/threads/thread-words.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

describe('a thread of the analysis that ends', () => {
  it('fails what waits for it, once, with its error', async () => {
    const failures: Error[] = [];
    const threads = new AnalysisThreads({
      analysis: {} as Analysis,
      counters: new Counters(0),
      outputs: {} as AppendingOutputs,
      count: 2,
      logger: new RecordingLogger(),
      onFailure: (error) => failures.push(error),
    });
    try {
      const sources = { rules: 'none' } as unknown as ThreadConfiguration['sources'];
      const error = await threads.begin({ sources } as ThreadConfiguration).catch((reason: unknown) => reason);
      expect(String(error)).to.match(/^Error: Thread [12] of the analysis ended: /);
      expect(failures).to.include(error);
      expect(String(await threads.moved().catch((reason: unknown) => reason))).to.equal(String(error));
    } finally {
      await threads.close();
    }
  });
});
