import { BusError } from '../../lib/bus/bus-error.js';
import type { HandlerParams, Handlers } from '../../lib/bus/contract.js';
import type { clusterdContract } from '../../lib/bus/contracts/clusterd.js';
import type { commonMethods } from '../../lib/bus/contracts/common.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { AlertTurns } from './alerts/alert-turns.js';
import type { ClusterStatus } from './cluster-status.js';
import type { ClusterFiles } from './files/cluster-files.js';
import type { Membership } from './membership.js';
import type { Lease } from './nodes/lease.js';
import type { NodeAsks } from './nodes/node-asks.js';
import type { NodeBeats } from './nodes/node-beats.js';
import type { NodeTells } from './nodes/node-tells.js';
import { type CommitRoute, holderMs } from './records/commit-route.js';
import type { Commit, RecordCommits } from './records/record-commits.js';
import type { RecordCopy } from './records/record-copy.js';

export type ClusterdHandlersParts = {
  readonly copy: RecordCopy;
  readonly commits: RecordCommits;
  readonly route: CommitRoute;
  readonly membership: Membership;
  readonly beats: NodeBeats;
  readonly lease: Lease;
  readonly asks: NodeAsks;
  readonly tells: NodeTells;
  readonly status: ClusterStatus;
  /** Made with these answers. */
  readonly files: () => Pick<ClusterFiles, 'settle'>;
  readonly turns: AlertTurns;
  /** This node's alerts up to here are in the stream of all nodes. */
  readonly published: () => { readonly file: string } | undefined;
  /** Ends what waits. */
  readonly signal: AbortSignal;
};

/** Answers of svc-clusterd beyond those every daemon gives. */
export function clusterdHandlers(
  parts: ClusterdHandlersParts,
): Omit<Handlers<typeof clusterdContract>, keyof typeof commonMethods> {
  const { copy, membership, beats, lease, asks, tells, status, files } = parts;
  /** @throws BusError `cluster_unavailable` until the copy was whole once and this home is a node */
  const requireJoined = (): void => {
    if (!copy.state.whole) {
      throw new BusError('cluster_unavailable', status.problem ?? 'the records were never read');
    }
    // One that was accepted once lives on its copy while there is no NATS.
    if ((copy.get('node', status.self)?.value ?? null) === null) {
      throw new BusError('cluster_unavailable', membership.problem ?? 'this node has not joined yet');
    }
  };
  return {
    'cluster.view': () => status.view(),
    'nodes.forget': async ({ node }) => {
      requireJoined();
      await membership.forget(
        node,
        (name) => beats.isPresent(name),
        (change) => parts.route.commit(change),
      );
      return {};
    },
    'node.describe': ({ daemon, facts }) => {
      try {
        beats.describe(daemon, facts);
      } catch (error) {
        throw new BusError('too_large', describeError(error), { cause: error });
      }
      return {};
    },
    'lease.check': () => lease.check(),
    ...recordHandlers(parts, requireJoined),
    'records.seeded': async ({ mark }) => {
      requireJoined();
      if (mark !== undefined && !copy.state.seeded.includes(mark)) {
        await copy.note(({ seeded }) => ({ seeded: [...new Set([...seeded, mark])] }));
      }
      return { seeded: [...copy.state.seeded] };
    },
    'ruleset.settle': ({ waitMs }) => files().settle(waitMs),
    'nodes.ask': async (question) => {
      if (question.node !== status.self) membership.requireNotForgotten();
      return { result: await asks.ask({ ...question, params: question.params ?? {} }) };
    },
    'nodes.tell': ({ daemon, method, params }) => {
      membership.requireNotForgotten();
      tells.tell(daemon, method, params ?? {});
      return {};
    },
    ...alertHandlers(parts),
  };
}

function recordHandlers(
  { copy, commits, route, signal }: ClusterdHandlersParts,
  requireJoined: () => void,
): Pick<
  Handlers<typeof clusterdContract>,
  'records.commit' | 'records.write' | 'records.turn' | 'records.give' | 'records.changes'
> {
  return {
    'records.commit': async (params) => {
      requireJoined();
      return { revision: await route.commit(commitOf(params)) };
    },
    'records.write': async (params) => {
      requireJoined();
      const commit = commitOf(params);
      const asker = { node: params.node ?? '', withinMs: holderMs(commit) };
      return { revision: await commits.commit(commit, asker) };
    },
    'records.turn': async ({ kinds, withinMs }) => {
      requireJoined();
      return { revision: await route.turn(kinds, withinMs) };
    },
    'records.give': async ({ kinds, node, withinMs }) => {
      requireJoined();
      return { revision: await commits.turn(kinds, { node, withinMs }) };
    },
    'records.changes': async ({ kinds, after, limit, waitMs }) => {
      requireJoined();
      const end = performance.now() + waitMs;
      for (;;) {
        const left = end - performance.now();
        // What changes most of the time is of other kinds than most daemons follow.
        if (copy.latest(kinds) > after || left <= 0 || signal.aborted) {
          const page = copy.changes(kinds, after, limit);
          if (page.changes.length > 0 || page.more || left <= 0 || signal.aborted) return page;
        }
        await copy.changed(left, signal);
      }
    },
  };
}

function alertHandlers({
  membership,
  turns,
  published,
}: ClusterdHandlersParts): Pick<
  Handlers<typeof clusterdContract>,
  'alerts.take' | 'alerts.keep' | 'alerts.done' | 'alerts.needed'
> {
  return {
    'alerts.take': ({ output, waitMs }) => {
      membership.requireNotForgotten();
      return turns.take(output, waitMs);
    },
    'alerts.keep': ({ output, receipt }) => turns.keep(output, receipt),
    'alerts.done': async ({ output, receipt, delivered }) => {
      await turns.done(output, receipt, delivered);
      return {};
    },
    'alerts.needed': () => ({ file: published()?.file ?? null }),
  };
}

function commitOf({ id, basis, kinds, changes }: HandlerParams<typeof clusterdContract, 'records.commit'>): Commit {
  const known = changes.map((change) => ({ ...change, value: change.value ?? null }));
  return { ...(id === undefined ? {} : { id }), basis, kinds, changes: known };
}
