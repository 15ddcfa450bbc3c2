import { execFile } from 'node:child_process';

/** The announcement is worth no more waiting than this. */
const TIMEOUT_MS = 5000;

/**
 * Tells systemd about the state of the service, through its own program since Node has no datagram sockets of the unix
 * family (`Type=notify`, `NotifyAccess=all`). Does nothing outside a unit.
 * @param messages such as `READY=1` or `STATUS=...`
 * @param onError told when it did not work: systemd would then wait for its own time-out
 */
export function systemdNotify(messages: readonly string[], onError: (reason: string) => void): Promise<void> {
  if (process.env['NOTIFY_SOCKET'] === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    execFile('systemd-notify', [...messages], { timeout: TIMEOUT_MS }, (error) => {
      if (error !== null) onError(error.message.trim());
      resolve();
    });
  });
}
