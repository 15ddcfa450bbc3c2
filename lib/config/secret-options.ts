/**
 * Options whose value is a secret wherever they stand. An address of a hook is one: whoever knows it may post there. The key of
 * the cluster is masked by those who show it, since other things are called `key` as well.
 */
export const SECRET_OPTIONS: readonly string[] = ['api_key', 'hook_url', 'haproxy_password', 'client_cert_password'];
