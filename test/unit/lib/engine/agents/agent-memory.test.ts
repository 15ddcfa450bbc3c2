import { deserialize, serialize, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { AgentMemory } from '../../../../../lib/engine/agents/agent-memory.js';
import { SimpleAgentMemory } from '../../../../support/engine/simple-agent-memory.js';

const AGENTS = ['001', '002', '003'];
const POLICIES = ['cis', 'own'];
/** As decoding.md 4.11 has it. */
const MAX_CHECKS = 20_000;

type Memory = AgentMemory | SimpleAgentMemory;
/** A call of one of the two; what it answers must be the same. */
type Call = (memory: Memory) => unknown;

const agent = fc.constantFrom(...AGENTS);
const policyId = fc.constantFrom(...POLICIES);
const scanId = fc.oneof(fc.constantFrom(1, 2), fc.integer({ min: 0, max: 400 }));
const id = fc.oneof(fc.nat(12), fc.constantFrom(-1, -0, 0.5, 2 ** 31, 4_294_967_296, -(2 ** 31)));
const result = fc.constantFrom('passed', 'failed', 'not applicable', 'x');
const text = fc.constantFrom('a', 'b', 'c');

/** A whole scan: the checks in their order, and the summary. */
const scan: fc.Arbitrary<Call> = fc
  .tuple(agent, policyId, scanId, fc.array(result, { minLength: 1, maxLength: 40 }), fc.nat(30))
  .map(([who, policy, scanned, results, first]) => (memory) => {
    results.forEach((each, index) => {
      memory.setCheck(who, first + index, { policyId: policy, result: each, scanId: scanned });
    });
    memory.setScan(who, policy, { hash: 'h', scanId: scanned });
    return memory.resultsHash(who, policy);
  });

const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 4, arbitrary: scan },
  {
    weight: 4,
    arbitrary: fc
      .tuple(agent, id, policyId, result, scanId)
      .map(([who, check, policy, told, scanned]): Call => (memory) => {
        const known = memory.check(who, check);
        memory.setCheck(who, check, { policyId: known?.policyId ?? policy, result: told, scanId: scanned });
        return known;
      }),
  },
  fc.tuple(agent, id).map(
    ([who, check]): Call =>
      (memory) =>
        memory.check(who, check),
  ),
  fc.tuple(agent, policyId, fc.option(scanId, { nil: undefined })).map(([who, policy, except]): Call => (memory) => {
    memory.deleteChecks(who, policy, except);
    return memory.resultsHash(who, policy);
  }),
  fc.tuple(agent, text).map(
    ([who, told]): Call =>
      (memory) =>
        memory.addRootcheck(who, told),
  ),
  agent.map((who): Call => (memory) => {
    memory.clearRootcheck(who);
  }),
  fc.tuple(agent, policyId, text).map(([who, policy, hash]): Call => (memory) => {
    memory.setPolicy(who, policy, hash);
    return memory.policies(who);
  }),
  fc.tuple(agent, policyId).map(([who, policy]): Call => (memory) => {
    memory.deletePolicy(who, policy);
    return [memory.policy(who, policy), memory.scan(who, policy)];
  }),
  fc.tuple(agent, text, text).map(([who, path, sum]): Call => (memory) => {
    memory.setFile(who, path, sum);
    return memory.isFullOfFiles(who);
  }),
  fc.tuple(agent, text).map(([who, path]): Call => (memory) => {
    const known = memory.file(who, path);
    memory.deleteFile(who, path);
    return known;
  }),
  agent.map((who): Call => (memory) => {
    memory.setScanned(who);
    return memory.hasScanned(who);
  }),
  fc.tuple(text, text).map(([ip, information]): Call => (memory) => {
    memory.setHost(ip, information);
    return memory.host(ip);
  }),
  agent.map((who): Call => (memory) => {
    memory.deleteAgent(who);
  }),
);

/** Everything; the simple one has no order of agents. */
function byId(memory: Memory): ReturnType<AgentMemory['snapshot']> {
  const { hosts, agents } = memory.snapshot();
  return { hosts, agents: [...agents].sort((a, b) => a.id.localeCompare(b.id)) };
}

describe('AgentMemory', () => {
  it('does what a simple one does, whatever it is told', () => {
    fc.assert(
      fc.property(fc.array(call, { maxLength: 60 }), (calls) => {
        const memory = new AgentMemory();
        const simple = new SimpleAgentMemory();
        for (const each of calls) {
          expect(each(memory)).to.deep.equal(each(simple));
          expect(byId(memory)).to.deep.equal(byId(simple));
        }
        const restored = new AgentMemory();
        restored.restore(structuredClone(memory.snapshot()));
        expect(restored.snapshot()).to.deep.equal(memory.snapshot());
      }),
      { numRuns: 1000 },
    );
  });

  it('is restored from a log of its changes, at any moment and while that is begun anew', () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: call.map((each) => ({ kind: 'call' as const, call: each })) },
      {
        weight: 2,
        arbitrary: fc.constantFrom('take', 'rewrite').map((kind) => ({ kind: kind as 'take' | 'rewrite' })),
      },
      { weight: 1, arbitrary: fc.constant({ kind: 'start' as const }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const memory = new AgentMemory(2);
        memory.noteChanges();
        let log: unknown[] = [];
        let next: unknown[] | undefined;
        const take = (): void => {
          for (const { changes } of memory.takeChanges()) {
            const written = deserialize(serialize(changes)) as unknown[];
            log.push(...written);
            next?.push(...written);
          }
        };
        const expectRestored = (): void => {
          const restored = new AgentMemory(2);
          restored.applyChanges(log);
          restored.endChanges();
          expect(restored.snapshot()).to.deep.equal(memory.snapshot());
        };
        for (const each of steps) {
          switch (each.kind) {
            case 'call':
              each.call(memory);
              break;
            case 'take':
              take();
              expectRestored();
              break;
            case 'start':
              take();
              memory.startRewriting();
              next = [];
              break;
            case 'rewrite': {
              const isWhole = next !== undefined && memory.rewrite(1);
              take();
              if (isWhole) log = next ?? [];
              if (isWhole) next = undefined;
              expectRestored();
            }
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('forgets the agent that was not heard of for longest, and counts it', () => {
    const memory = new AgentMemory(3);
    for (const who of ['1', '2', '3', '1', '4', '5']) memory.addRootcheck(who, 'a');
    expect(memory.snapshot().agents.map(({ id: who }) => who)).to.deep.equal(['1', '4', '5']);
    expect([memory.size, memory.forgotten]).to.deep.equal([3, 2]);
  });

  it('bounds the bytes that an agent can have it keep, and knows that files may be forgotten', () => {
    const memory = new AgentMemory();
    const long = 'x'.repeat(60_000);
    for (let number = 0; number < 1000; number += 1) {
      memory.addRootcheck('001', `${String(number)}${long}`);
      memory.setFile('001', `${String(number)}${long}`, '1');
      memory.setHost(String(number), long);
    }
    const bytes = Buffer.byteLength(JSON.stringify(memory.snapshot()));
    expect(bytes).to.be.below(60 * 1024 * 1024);
    expect(memory.isFullOfFiles('001')).to.equal(true);
    expect(memory.file('001', `0${long}`)).to.equal(undefined);
    expect(memory.addRootcheck('001', `999${long}`)).to.equal(false);
  });

  it('forgets the check that was not told for longest when an agent makes checks up', () => {
    const memory = new AgentMemory();
    const simple = new SimpleAgentMemory();
    for (const each of [memory, simple]) {
      for (let check = 0; check < MAX_CHECKS + 300; check += 1) {
        // A value of its own for each check, and now and then one that was told before.
        each.setCheck('001', check, { policyId: 'cis', result: String(check % 700), scanId: check });
        if (check % 97 === 0) each.setCheck('001', check - 50, { policyId: 'cis', result: 'again', scanId: 7 });
      }
    }
    expect(memory.check('001', 100)).to.equal(undefined);
    expect(memory.snapshot()).to.deep.equal(simple.snapshot());
    for (const each of [memory, simple]) each.deleteChecks('001', 'cis', 7);
    expect(memory.snapshot()).to.deep.equal(simple.snapshot());
  });

  it('keeps the checks of many agents with the same policy in a few bytes each', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const memory = new AgentMemory();
    const fill = (agents: number, from: number): void => {
      for (let number = from; number < from + agents; number += 1) {
        for (let check = 0; check < 127; check += 1) {
          const told = (number * 31 + check) % 3 === 0 ? 'failed' : 'passed';
          memory.setCheck(String(number), 15_500 + check, { policyId: 'cis_debian', result: told, scanId: number });
        }
        memory.setScan(String(number), 'cis_debian', { hash: 'x'.repeat(64), scanId: number });
      }
    };
    fill(100, 0);
    collect();
    const before = process.memoryUsage();
    fill(2000, 100);
    collect();
    const after = process.memoryUsage();
    const bytes = after.heapUsed + after.external - before.heapUsed - before.external;
    // 84 and more as objects; 8 as measured.
    expect(bytes / 2000 / 127).to.be.below(15);
    expect(memory.check('99', 15_500)).to.deep.include({ policyId: 'cis_debian', scanId: 99 });
  });
});
