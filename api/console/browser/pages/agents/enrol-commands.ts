/** How an agent is to enrol. */
export type Enrolment = {
  /** Name or address of the manager as the host sees it. */
  readonly host: string;
  /** Empty: the host's own name. */
  readonly name: string;
  readonly groups: readonly string[];
  /** Where svc-authd listens. */
  readonly port: number;
  /** Where agents connect to. */
  readonly agentPort: number;
  readonly needsPassword: boolean;
};

const USUAL_PORT = 1515;
const USUAL_AGENT_PORT = 1514;

/** Whether svc-authd takes a name (agents-and-groups.md 2.3). */
export function isAgentName(name: string): boolean {
  return /^[A-Za-z0-9_.-]{2,128}$/.test(name);
}

/** Whether an address can stand in a command as it is: nothing that a shell would read as something else. */
export function isHost(host: string): boolean {
  return /^[A-Za-z0-9_.:-]+$/.test(host) && !host.startsWith('-');
}

/** The address that the browser has; IPv6 without its brackets. */
export function hostOf(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Commands for an agent of this product, on the host that is to become one. */
export function ownCommands(enrolment: Enrolment): string {
  const { host } = enrolment;
  return lines([
    'bin/svc-control init --agent --home /opt/security-agent',
    ...(enrolment.needsPassword ? ["(umask 077; echo 'PASSWORD' > /opt/security-agent/etc/authd.pass)"] : []),
    `bin/agent-auth --home /opt/security-agent ${options(enrolment)}`,
    setAddress('/opt/security-agent/etc/manager.conf', host),
    ...setPort('/opt/security-agent/etc/manager.conf', enrolment),
    'bin/svc-control start --home /opt/security-agent',
  ]);
}

/** Commands for a Wazuh agent as its package installs it. */
export function wazuhCommands(enrolment: Enrolment): string {
  const { host } = enrolment;
  return lines([
    ...(enrolment.needsPassword
      ? ["(umask 027; echo 'PASSWORD' > /var/ossec/etc/authd.pass)", 'chown root:wazuh /var/ossec/etc/authd.pass']
      : []),
    `/var/ossec/bin/agent-auth ${options(enrolment)}`,
    setAddress('/var/ossec/etc/ossec.conf', host),
    ...setPort('/var/ossec/etc/ossec.conf', enrolment),
    'systemctl enable --now wazuh-agent',
    'systemctl restart wazuh-agent',
  ]);
}

function options({ host, name, groups, port }: Enrolment): string {
  return [
    `-m ${host}`,
    ...(port === USUAL_PORT ? [] : [`-p ${String(port)}`]),
    ...(name === '' ? [] : [`-A ${name}`]),
    ...(groups.length === 0 ? [] : [`-G ${groups.join(',')}`]),
  ].join(' ');
}

function setAddress(file: string, host: string): string {
  return `sed -i 's|<address>.*</address>|<address>${host}</address>|' ${file}`;
}

function setPort(file: string, { agentPort }: Enrolment): string[] {
  if (agentPort === USUAL_AGENT_PORT) return [];
  return [`sed -i 's|<port>1514</port>|<port>${String(agentPort)}</port>|' ${file}`];
}

function lines(commands: readonly string[]): string {
  return commands.join('\n');
}

/** What the manager says of enrolment (`auth/auth`) and of agents' connections (`request/remote`); what is not known is as usual. */
export function readSettings(
  auth: { readonly auth?: Readonly<Record<string, unknown>> } | undefined,
  remote: { readonly remote?: readonly Readonly<Record<string, unknown>>[] } | undefined,
): { port: number; agentPort: number; needsPassword: boolean; needsCertificate: boolean; isOff: boolean } {
  const section = auth?.auth ?? {};
  const secure = remote?.remote?.find(({ connection }) => connection === 'secure');
  const number = (value: unknown, usual: number) => (Number(value) > 0 ? Number(value) : usual);
  const first = Array.isArray(secure?.['port']) ? (secure['port'] as unknown[])[0] : secure?.['port'];
  return {
    port: number(section['port'], USUAL_PORT),
    agentPort: number(first, USUAL_AGENT_PORT),
    needsPassword: section['use_password'] === 'yes',
    needsCertificate: 'ssl_agent_ca' in section,
    isOff: section['disabled'] === 'yes' || section['remote_enrollment'] === 'no',
  };
}
