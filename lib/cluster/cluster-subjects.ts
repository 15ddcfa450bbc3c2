/**
 * Names on NATS of what one cluster has there. svc-clusterd uses them, and `svc-control cluster init` permits each node these and no
 * others, so both take them from here.
 */
export type ClusterSubjects = {
  /** Streams of records, of the lease and of alerts, with the subjects that each has. */
  readonly streams: Readonly<Record<'shared' | 'lease' | 'alerts', StreamPlan>>;
  /** Bucket of the object store, and the stream that holds it. */
  readonly files: StreamPlan & { readonly bucket: string };
  /** What every subject of the cluster's own begins with, without the last dot. */
  readonly root: string;
  /** Presence of a node; `*` for all. */
  readonly beat: (node: string) => string;
  /** What a node tells all others: it adds tokens of its own. */
  readonly tell: (node: string) => string;
  /** Requests to a node. */
  readonly ask: (node: string) => string;
  /** Prefix of a node's own inboxes, as the client's `inboxPrefix`. */
  readonly inbox: (node: string) => string;
  /** The one subject of the lease. */
  readonly lease: string;
  /** What a node writes its alerts to; `*` for all. */
  readonly alerts: (node: string) => string;
};

export type StreamPlan = { readonly name: string; readonly subjects: readonly string[] };

/** Bytes of one message that the servers take: larger ones are sent in pieces. Stops one node from filling their memory. */
export const MAX_NATS_PAYLOAD = 4 * 1024 * 1024;

/** Stands for any node in `beat`, `tell`, `ask` and `alerts`. */
export const ANY_NODE = '*';

/**
 * One token of a subject: what is no letter, digit, `_` or `-` is written as `=HH` for each of its bytes, so that no name means
 * several subjects or all of them.
 */
export function subjectToken(name: string): string {
  return escaped(name, '=');
}

/** A name as part of one of a stream or bucket, where `=` is not allowed. */
function streamToken(name: string): string {
  return escaped(name, '_');
}

function escaped(name: string, mark: string): string {
  const bytes = [...Buffer.from(name, 'utf8')];
  return bytes
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9_-]/.test(character) ? character : mark + byte.toString(16).toUpperCase().padStart(2, '0');
    })
    .join('');
}

/** The plan of a cluster. @param cluster its name as in `<cluster><name>` */
export function clusterSubjects(cluster: string): ClusterSubjects {
  const root = `svc.${subjectToken(cluster)}`;
  const stream = streamToken(cluster);
  const bucket = `svc_${stream}_files`;
  const node = (name: string) => (name === ANY_NODE ? name : subjectToken(name));
  const lease = `${root}.lease.master`;
  const alerts = (name: string) => `${root}.alerts.${node(name)}.batch`;
  return {
    root,
    streams: {
      shared: { name: `SVC_${stream}_SHARED`, subjects: [`${root}.shared.*.*`] },
      lease: { name: `SVC_${stream}_LEASE`, subjects: [lease] },
      alerts: { name: `SVC_${stream}_ALERTS`, subjects: [alerts(ANY_NODE)] },
    },
    files: { bucket, name: `OBJ_${bucket}`, subjects: [`$O.${bucket}.C.*`, `$O.${bucket}.M.*`] },
    beat: (name) => `${root}.beat.${node(name)}`,
    tell: (name) => `${root}.tell.${node(name)}`,
    ask: (name) => `${root}.ask.${node(name)}`,
    inbox: (name) => `${root}.inbox.${node(name)}`,
    lease,
    alerts,
  };
}

/** Subjects that somebody may publish to and subscribe to. */
export type SubjectPermissions = { readonly publish: readonly string[]; readonly subscribe: readonly string[] };

/**
 * What a node may do: its credential lies on a host that an attacker may have, so it is what svc-clusterd does and no more. It can
 * write records, as any node must; it can neither delete nor empty nor change a stream, nor speak or listen as another node. What can
 * be filled up with it has a limit of its own (docs/cluster.md "Who may do what").
 */
export function nodePermissions(cluster: string, node: string): SubjectPermissions {
  const plan = clusterSubjects(cluster);
  const { shared, lease, alerts } = plan.streams;
  return {
    publish: [
      ...[shared, lease, plan.files].flatMap(({ subjects }) => subjects),
      plan.alerts(node),
      plan.beat(node),
      // The daemon that tells it.
      `${plan.tell(node)}.*`,
      plan.ask(ANY_NODE),
      // Answers to others.
      `${plan.root}.inbox.>`,
      '$JS.API.INFO',
      '$JS.API.STREAM.NAMES',
      ...[shared, lease, alerts, plan.files].flatMap(({ name }) => streamApi(name)),
      ...[shared, alerts, plan.files].flatMap(({ name }) => consumerApi(name)),
      ...durableApi(alerts.name),
      // Flow control of the push consumers of the client's object store is answered there.
      `$JS.FC.${plan.files.name}.>`,
      // The client's object store removes the pieces of an object by it.
      `$JS.API.STREAM.PURGE.${plan.files.name}`,
    ],
    subscribe: [`${plan.root}.beat.>`, `${plan.root}.tell.>`, plan.ask(node), `${plan.inbox(node)}.>`],
  };
}

function streamApi(stream: string): string[] {
  return [
    `$JS.API.STREAM.INFO.${stream}`,
    `$JS.API.STREAM.CREATE.${stream}`,
    `$JS.API.STREAM.MSG.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}.>`,
  ];
}

/** To follow a stream for as long as a connection lasts. */
function consumerApi(stream: string): string[] {
  return [
    `$JS.API.CONSUMER.CREATE.${stream}`,
    `$JS.API.CONSUMER.CREATE.${stream}.>`,
    `$JS.API.CONSUMER.INFO.${stream}.>`,
    `$JS.API.CONSUMER.DELETE.${stream}.>`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.>`,
  ];
}

/** To share what is in a stream with others, each message once. */
function durableApi(stream: string): string[] {
  return [`$JS.API.CONSUMER.DURABLE.CREATE.${stream}.>`, `$JS.API.CONSUMER.LIST.${stream}`, `$JS.ACK.${stream}.>`];
}

/**
 * What the administrator's credential may do beside it: change streams, and look on. It lies in no node's folder.
 */
export function adminPermissions(cluster: string): SubjectPermissions {
  const { root, files } = clusterSubjects(cluster);
  return {
    publish: ['$JS.API.>', '$JS.ACK.>', '$JS.FC.>', `${root}.>`, ...files.subjects],
    subscribe: [`${root}.>`, '_INBOX.>'],
  };
}
