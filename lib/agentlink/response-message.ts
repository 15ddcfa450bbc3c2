/** Who gives an order: node and module of the manager, both may be empty. */
export type OrderOrigin = { readonly name: string; readonly module: string };

/** An active response for one host. */
export type ResponseOrder = {
  readonly origin: OrderOrigin;
  /** Its name in ar.conf, or `!file`. */
  readonly command: string;
  readonly extraArgs: readonly string[];
  readonly alert: Readonly<Record<string, unknown>>;
};

/** The message that svc-execd of any host carries out (daemons-and-config.md 5.2). */
export function responseMessage({ origin, command, extraArgs, alert }: ResponseOrder): string {
  return JSON.stringify({ version: 1, origin, command, parameters: { extra_args: extraArgs, alert } });
}
