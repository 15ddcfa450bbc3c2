import type { AgentMemory } from './agent-memory.js';

/** What decoders know and say of what agents' own modules reported (decoding.md 4.11), wherever it is kept. */
export type AgentKnowledge = Pick<
  AgentMemory,
  | 'addRootcheck'
  | 'clearRootcheck'
  | 'check'
  | 'setCheck'
  | 'deleteChecks'
  | 'scan'
  | 'setScan'
  | 'policy'
  | 'setPolicy'
  | 'deletePolicy'
  | 'policies'
  | 'resultsHash'
  | 'file'
  | 'setFile'
  | 'deleteFile'
  | 'isFullOfFiles'
  | 'hasScanned'
  | 'setScanned'
  | 'host'
  | 'setHost'
>;
