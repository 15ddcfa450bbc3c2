import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Contract } from '../../lib/bus/contract.js';
import { analysisdContract } from '../../lib/bus/contracts/analysisd.js';
import { clusterdContract } from '../../lib/bus/contracts/clusterd.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { clusterSubjects } from '../../lib/cluster/cluster-subjects.js';
import { JOINED_FILE, LEFT_FILE } from '../../lib/cluster/left-cluster.js';
import type { DaemonParts } from '../../lib/daemon/daemon-parts.js';
import { type BuildContext, defineDaemon } from '../../lib/daemon/define-daemon.js';
import { ifPresentSync } from '../../lib/files/if-present.js';
import { describeError } from '../../lib/log/describe-error.js';
import { productVersion } from '../../lib/product/version.js';
import { ClusterAlerts } from './alerts/cluster-alerts.js';
import { ClusterStatus } from './cluster-status.js';
import { clusterdHandlers } from './clusterd-handlers.js';
import { type ClusterdSettings, SETTINGS } from './clusterd-settings.js';
import { BlobGarbage } from './files/blob-garbage.js';
import { ClusterFiles, type ClusterFilesParts } from './files/cluster-files.js';
import { ObjectBlobs } from './files/object-blobs.js';
import { AnalysisdEngine } from './files/ruleset-engine.js';
import { Membership } from './membership.js';
import { NatsLink } from './nats/nats-link.js';
import { Seal } from './nats/sealing.js';
import { StreamRoom } from './nats/stream-room.js';
import { Lease } from './nodes/lease.js';
import { LocalDaemons } from './nodes/local-daemons.js';
import { NodeAsks } from './nodes/node-asks.js';
import { NodeBeats } from './nodes/node-beats.js';
import { NodeTells } from './nodes/node-tells.js';
import { ownClient } from './own-client.js';
import { CommitRoute } from './records/commit-route.js';
import { RecordCommits } from './records/record-commits.js';
import { RecordCopy } from './records/record-copy.js';
import { RecordMessages } from './records/record-messages.js';
import { RecordStream } from './records/record-stream.js';

/** Contents that no set names any more, and those that are missing, are looked for so often, milliseconds. */
const GARBAGE_MS = 600_000;

/**
 * svc-clusterd: makes several managers one (architecture.md 4 "Cluster", daemons-and-config.md 10). It alone speaks to NATS, and
 * alone opens `queue/cluster`.
 */
export const CLUSTERD = defineDaemon({
  contract: clusterdContract,
  settings: SETTINGS,
  accept({ cluster, config }, current, { home }) {
    if (current !== undefined) return;
    if (cluster.disabled) throw new Error(`Section 'cluster' is disabled in '${config.file}'.`);
    if (existsSync(home.path(LEFT_FILE))) {
      const way = '"svc-control cluster join FOLDER" takes it back';
      throw new Error(`This manager has left its cluster ('${LEFT_FILE}'): ${way}.`);
    }
  },
  async build(context, parts) {
    const { home, logger, requests } = context;
    const records = await sharedRecords(context, parts);
    const { link, copy, stream, commits, membership, beats, lease, name } = records;
    const { seal, subjects, node } = name;
    const daemons = parts.use(new LocalDaemons(home, () => client));
    const isForgotten = (other: string): boolean => copy.isForgotten(other);
    const between = { link, subjects, node, daemons, isForgotten, logger };
    const asks = new NodeAsks({
      ...between,
      seal: seal('asks'),
      isPresent: (other) => beats.isPresent(other),
      isKnown: (other) =>
        !copy.isForgotten(other) && (beats.others.has(other) || copy.get('node', other) !== undefined),
    });
    const hindrance = (): string | undefined => stream.problem ?? beats.rivalry;
    const route = new CommitRoute({ self: node, commits, asks, hindrance, holder: () => lease.holder });
    const tells = new NodeTells({ ...between, seal: seal('tells') });
    const status = new ClusterStatus({ cluster: name.cluster, node, link, stream, membership, beats, lease, copy });
    const alerts = new ClusterAlerts(
      { ...between, home, seal: seal('alerts'), copy, membership, ...context.settings.started.alerts },
      parts,
    );
    await alerts.prepare();
    const stopped = parts.adopt(new AbortController(), (controller) => {
      controller.abort();
    });
    const room = parts.use(new StreamRoom({ link, subjects, logger }));
    const handlers = clusterdHandlers({
      ...{ copy, commits, route, membership, beats, lease, asks, tells, status },
      files: () => files,
      turns: alerts.turns,
      published: () => alerts.published,
      signal: stopped.signal,
    });
    await parts.start(
      requests({
        stats: (counters) => ({
          requests: { ...counters },
          records: { ...recordStats(records), ...route.counters },
          room: room.used,
          asks: { ...asks.counters },
          tells: { ...tells.counters },
          beats: { unreadable: beats.unreadable },
          files: files.facts(),
          alerts: alerts.stats(),
        }),
        handlers,
      }),
    );
    const client = ownClient(handlers);
    const files = sharedFiles(context, parts, {
      self: node,
      client,
      blobs: new ObjectBlobs({ link, subjects, seal: seal('files'), replicas: context.settings.started.replicas }),
    });
    for (const part of [beats, asks, tells, stream, membership, lease, alerts, room, link, files]) part.start();
    return {};
  },
});

function recordStats({ copy, stream, commits }: Awaited<ReturnType<typeof sharedRecords>>): Record<string, number> {
  const { unreadable, restarts, batches } = stream;
  return { revision: copy.revision, unreadable, restarts, batches, ...commits.counters };
}

/** Folders of groups, and the ruleset of the user. */
function sharedFiles(
  { home, logger }: BuildContext<typeof clusterdContract, ClusterdSettings, void>,
  parts: DaemonParts,
  { self, client, blobs }: Pick<ClusterFilesParts, 'self' | 'client' | 'blobs'>,
): ClusterFiles {
  const asked = <C extends Contract>(contract: C): RequestClient<C> =>
    parts.use(new RequestClient({ contract, path: home.socket(contract.daemon) }));
  const engine = new AnalysisdEngine(asked(analysisdContract));
  const files = parts.use(new ClusterFiles({ home, logger, self, client, blobs, engine, db: asked(dbContract) }));
  const garbage = new BlobGarbage({
    blobs,
    logger,
    named: () => files.named(),
    mend: (there) => files.mend(there),
    leaseHeld: async () => (await client.call('lease.check', {})).held,
  });
  const log = logger.limited();
  parts.every(GARBAGE_MS, () => {
    garbage.collect().catch((error: unknown) => {
      log.debug(`Files that no set has any more were not removed: ${describeError(error)}`);
    });
  });
  return files;
}

/** The connection, the records with their copy, and what this node is by them. Nothing is begun yet. */
async function sharedRecords(
  { home, logger, settings, fatal }: BuildContext<typeof clusterdContract, ClusterdSettings, void>,
  parts: DaemonParts,
) {
  const { cluster, nats, replicas } = settings.started;
  const { name, node_name: node, key } = cluster;
  const subjects = clusterSubjects(name);
  const seal = (purpose: string) => new Seal(key, name, purpose);
  const copy = parts.use(await RecordCopy.open(home.path('queue', 'cluster'), randomUUID(), name));
  void copy.broken.then(fatal);
  const { instance } = copy.state;

  const link = parts.use(new NatsLink({ ...nats, inboxPrefix: subjects.inbox(node), name: node }, logger));
  const messages = new RecordMessages(subjects, seal('records'), node);
  const awaited = (): number => commits.awaited;
  const known = (): number => Math.max(commits.known, beats.revision);
  const stream = parts.use(new RecordStream({ link, subjects, copy, messages, replicas, known, awaited, logger }));
  const incarnation = randomUUID();
  const self = () => ({
    ...{ node, instance, incarnation, version: productVersion(), revision: copy.revision },
    overtaken: commits.counters.overtaken,
  });
  const beats: NodeBeats = parts.use(
    new NodeBeats({
      link,
      subjects,
      seal: seal('beats'),
      logger,
      self,
      silent: () => membership.forgotten,
      isForgotten: (other) => copy.isForgotten(other),
    }),
  );
  const rivalry = () => beats.rivalry;
  const commits: RecordCommits = parts.use(
    new RecordCommits({
      node,
      link,
      copy,
      messages,
      hindrance: () => stream.problem ?? rivalry(),
      contended: () => beats.contended,
    }),
  );
  const hasListened = () => beats.hasListened;
  const joining = ifPresentSync(() => readFileSync(home.path(JOINED_FILE), 'utf8'))?.trim() ?? '';
  const membership: Membership = parts.use(
    new Membership({ copy, commits, node, instance, joining, rivalry, hasListened, logger, now: Date.now }),
  );
  const lease = parts.use(
    new Lease({
      link,
      subjects,
      seal: seal('lease'),
      replicas,
      self: { node, instance },
      eligible: () => membership.problem === undefined,
      logger,
    }),
  );
  return { link, copy, stream, commits, membership, beats, lease, name: { cluster: name, node, subjects, seal } };
}
