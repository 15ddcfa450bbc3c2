import type { ClusterNode, ClusterView } from '../../lib/bus/contracts/clusterd.js';
import { productVersion } from '../../lib/product/version.js';
import type { Membership } from './membership.js';
import type { NatsLink } from './nats/nats-link.js';
import type { Lease } from './nodes/lease.js';
import type { NodeBeats } from './nodes/node-beats.js';
import type { RecordCopy } from './records/record-copy.js';
import type { RecordStream } from './records/record-stream.js';

export type ClusterStatusParts = {
  readonly cluster: string;
  readonly node: string;
  readonly link: NatsLink;
  readonly stream: RecordStream;
  readonly membership: Membership;
  readonly beats: NodeBeats;
  readonly lease: Lease;
  readonly copy: RecordCopy;
};

/** More than nodes a cluster may have. */
const MAX_NODE_RECORDS = 1000;

/** What this node knows of the cluster: `cluster.view`. */
export class ClusterStatus {
  constructor(private readonly parts: ClusterStatusParts) {}

  /** Name of this node. */
  get self(): string {
    return this.parts.node;
  }

  /** Why nothing can be changed from here; undefined when it can. */
  get problem(): string | undefined {
    const { stream, membership } = this.parts;
    return membership.forgotten ? membership.problem : (stream.problem ?? membership.problem);
  }

  view(): ClusterView {
    const { cluster, node, link, lease, copy } = this.parts;
    const { problem } = this;
    const master = lease.holder ?? null;
    return {
      cluster,
      self: node,
      connected: link.connected,
      problem: problem ?? null,
      writable: problem === undefined,
      master,
      revision: copy.revision,
      nodes: this.#names()
        .sort()
        .map((name) => this.#node(name, name === master ? 'master' : 'worker')),
    };
  }

  #names(): string[] {
    const { node, beats, copy } = this.parts;
    const { changes } = copy.changes(['node'], 0, MAX_NODE_RECORDS);
    const heard = [...beats.others.keys()].filter((name) => beats.isPresent(name));
    return [...new Set([node, ...heard, ...changes.map(({ key }) => key)])];
  }

  #node(name: string, type: ClusterNode['type']): ClusterNode {
    const { node, beats, copy } = this.parts;
    if (name === node) {
      return {
        name,
        type,
        version: productVersion(),
        ip: beats.ip,
        self: true,
        present: true,
        heardAt: Date.now(),
        revision: copy.revision,
        facts: Object.fromEntries(Object.entries(beats.ownFacts).map(([daemon, facts]) => [daemon, { ...facts }])),
      };
    }
    const heard = beats.others.get(name);
    return {
      name,
      type,
      version: heard?.beat.version ?? '',
      ip: heard?.beat.ip ?? '',
      self: false,
      present: beats.isPresent(name),
      heardAt: heard?.wall ?? null,
      revision: heard?.beat.revision ?? 0,
      facts: heard?.beat.facts ?? {},
    };
  }
}
