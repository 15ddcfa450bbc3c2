/** Is there when this manager has left its cluster: it comes back by `svc-control cluster join` alone. Below the home. */
export const LEFT_FILE = 'etc/cluster/left';
/**
 * Names the time that `svc-control cluster join` was done: one who was forgotten by the cluster comes back when it is another than before.
 * Below the home; a home may have none.
 */
export const JOINED_FILE = 'etc/cluster/joined';
