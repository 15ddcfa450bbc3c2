import { existsSync } from 'node:fs';

/** Text files that hold a host's system log; where one of them is, the journal would only repeat it. */
const SYSTEM_LOGS = ['/var/log/auth.log', '/var/log/secure', '/var/log/syslog', '/var/log/messages'];

/** Programs and socket of a host whose log is systemd's journal. */
const JOURNAL = ['/run/systemd/journal/socket', '/usr/bin/journalctl'];

/**
 * What `etc/manager.conf` gets beyond the template: the journal is followed on hosts that keep no text logs.
 * @param exists injected by tests
 */
export function hostLogSection(exists: (path: string) => boolean = existsSync): string {
  if (SYSTEM_LOGS.some(exists) || !JOURNAL.every(exists)) return '';
  return `
<!-- This host writes its log to the journal. -->
<manager_config>

  <localfile>
    <log_format>journald</log_format>
    <location>journald</location>
  </localfile>

</manager_config>
`;
}
