/** An attack whose alert has an address dropped on the agent: how lines of it look, and the shipped rule that sees it. */
export type Attack = { readonly rule: string; readonly text: (address: string) => string };

/** Passwords tried one after the other; the rule says nothing for a minute then, whoever else comes. */
export const PASSWORDS: Attack = {
  rule: '5763',
  text: (address) => `Failed password for root from ${address} port 40110 ssh2`,
};
/** Names tried one after the other; a minute of silence, too. */
export const NAMES: Attack = {
  rule: '5712',
  text: (address) => `Failed password for invalid user admin from ${address} port 40110 ssh2`,
};
/** Keys tried one after the other; each address has an alert, however many come at once. */
export const KEYS: Attack = {
  rule: '5720',
  text: (address) => `Failed publickey for root from ${address} port 40110 ssh2`,
};
/** Failures of one address after which each of those rules has its alert. */
export const FAILURES = 8;

/** Alerts of this level and above are mailed: those of attacks. */
export const MAILED_LEVEL = 10;

export type StoryPorts = {
  readonly agents: number;
  readonly enrollment: number;
  readonly syslog: number;
  readonly smtp: number;
  /** Of the search engine. */
  readonly indexer: string;
};

/** Nothing of this host is looked at. */
const NOTHING_ELSE = `<syscheck><disabled>yes</disabled></syscheck>
  <rootcheck><disabled>yes</disabled></rootcheck>
  <sca><enabled>no</enabled></sca>
  <wodle name="syscollector"><disabled>yes</disabled></wodle>`;

/** What a manager needs to hand alerts on and to have addresses dropped where they attack. */
export function managerConfiguration(
  ports: StoryPorts,
  { short, long, friend }: { readonly short: number; readonly long: number; readonly friend: string },
): string {
  return `<manager_config>
  <global>
    <jsonout_output>yes</jsonout_output>
    <white_list>127.0.0.1</white_list>
    <white_list>${friend}</white_list>
    <email_notification>yes</email_notification>
    <smtp_server>127.0.0.1</smtp_server>
    <smtp_port>${String(ports.smtp)}</smtp_port>
    <email_from>manager@example.test</email_from>
    <email_to>ops@example.test</email_to>
    <email_maxperhour>1000000</email_maxperhour>
  </global>
  <alerts><email_alert_level>${String(MAILED_LEVEL)}</email_alert_level></alerts>
  <remote>
    <connection>secure</connection><protocol>tcp</protocol>
    <local_ip>127.0.0.1</local_ip><port>${String(ports.agents)}</port>
  </remote>
  <auth><disabled>no</disabled><local_ip>127.0.0.1</local_ip><port>${String(ports.enrollment)}</port></auth>
  <syslog_output>
    <server>127.0.0.1</server><port>${String(ports.syslog)}</port>
    <protocol>tcp</protocol><format>json</format>
  </syslog_output>
  <indexer>
    <enabled>yes</enabled>
    <hosts><host>${ports.indexer}</host></hosts>
    <options><alerts>yes</alerts><states>no</states></options>
  </indexer>
  <command>
    <name>firewall-drop</name><executable>firewall-drop</executable><timeout_allowed>yes</timeout_allowed>
  </command>
  <active-response>
    <command>firewall-drop</command><location>local</location>
    <rules_id>${PASSWORDS.rule},${NAMES.rule}</rules_id><timeout>${String(short)}</timeout>
  </active-response>
  <active-response>
    <command>firewall-drop</command><location>local</location>
    <rules_id>${KEYS.rule}</rules_id><timeout>${String(long)}</timeout>
  </active-response>
  ${NOTHING_ELSE}
  <cluster><disabled>yes</disabled></cluster>
</manager_config>
`;
}

/** @param log the file that the agent follows beside what its responses did */
export function agentConfiguration({ agents }: StoryPorts, log: string): string {
  return `<manager_config>
  <client>
    <server>
      <address>127.0.0.1</address><port>${String(agents)}</port><protocol>tcp</protocol>
      <max_retries>1</max_retries><retry_interval>1</retry_interval>
    </server>
    <notify_time>1</notify_time>
    <time-reconnect>5</time-reconnect>
    <enrollment><enabled>no</enabled></enrollment>
  </client>
  <localfile>
    <log_format>syslog</log_format><location>${log}</location><only-future-events>no</only-future-events>
  </localfile>
  <localfile><log_format>syslog</log_format><location>logs/active-responses.log</location></localfile>
  ${NOTHING_ELSE}
</manager_config>
`;
}
