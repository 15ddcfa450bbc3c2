/** An NKey of a user: servers know the public one, and only who logs in has the seed. */
export type Login = { readonly seed: string; readonly publicKey: string };

/** Makes a new one. */
export async function makeLogin(): Promise<Login> {
  // Loaded when it is needed: svc-control starts often, and makes logins hardly ever.
  const { nkeys } = await import('@nats-io/transport-node');
  const pair = nkeys.createUser();
  return { seed: new TextDecoder().decode(pair.getSeed()), publicKey: pair.getPublicKey() };
}
