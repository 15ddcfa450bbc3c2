import { isIPv6 } from 'node:net';

/** A NATS server as `<cluster><nodes><node>` names it. */
export type NatsAddress = {
  readonly tls: boolean;
  /** Name or address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
};

/** Where NATS servers listen unless something else is said. */
const NATS_PORT = 4222;

/**
 * Reads `tls://host:port`, `nats://host:port` (without TLS), `host:port` or `host`: with TLS and port 4222 unless it says otherwise. An
 * IPv6 address with a port stands in brackets.
 * @returns undefined for anything else
 */
export function parseNatsAddress(text: string): NatsAddress | undefined {
  const { scheme = 'tls', rest = '' } = /^(?:(?<scheme>tls|nats):\/\/)?(?<rest>[^/\s]+)\/?$/.exec(text)?.groups ?? {};
  const tls = scheme === 'tls';
  if (isIPv6(rest)) return { tls, host: rest, port: NATS_PORT };
  const { bracketed, plain, digits } =
    /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[\w.-]+))(?::(?<digits>\d{1,5}))?$/.exec(rest)?.groups ?? {};
  const host = bracketed ?? plain;
  const port = digits === undefined ? NATS_PORT : Number(digits);
  if (host === undefined || (bracketed !== undefined && !isIPv6(bracketed)) || port < 1 || port > 65_535) {
    return undefined;
  }
  return { tls, host, port };
}

/** Whether it is this host, so that nobody else sees what is sent there. */
export function isThisHost({ host }: NatsAddress): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
