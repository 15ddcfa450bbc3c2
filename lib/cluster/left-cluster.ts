/** Is there when this manager has left its cluster: it comes back by `svc-control cluster join` alone. Below the home. */
export const LEFT_FILE = 'etc/cluster/left';
