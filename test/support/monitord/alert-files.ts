import { OutputFile } from '../../../lib/output/output-file.js';

/** An alert as svc-analysisd writes it, with what a test changes of it. */
export function sampleAlert(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    timestamp: '2025-06-05T10:11:23.123+0000',
    rule: {
      level: 10,
      description: 'Many failures',
      id: '5712',
      firedtimes: 1,
      mail: false,
      groups: ['sshd', 'auth'],
    },
    agent: { id: '007', name: 'web', ip: '10.0.0.7' },
    manager: { name: 'mgr.example.test' },
    id: '1749118283.0',
    full_log: 'Jun  5 10:11:23 web sshd[7]: Failed password for bob from 203.0.113.9 port 4123 ssh2',
    decoder: { name: 'sshd' },
    data: { srcip: '203.0.113.9', srcport: '4123', dstip: '10.0.0.7', dstport: '22', dstuser: 'bob' },
    location: '/var/log/auth.log',
    ...changes,
  };
}

/** The files of alerts.json in a directory, as svc-analysisd writes them. */
export class AlertFiles {
  readonly file: OutputFile;

  /** @param directory of the live name; it exists */
  constructor(directory: string, now = new Date(2025, 5, 5, 10)) {
    this.file = new OutputFile(
      { directory, liveName: 'alerts.json', stem: 'ossec-alerts', extension: 'json', recordEnd: '\n', maxBytes: 0 },
      now,
    );
  }

  /** Appends alerts, which readers see when it returns. */
  write(...alerts: readonly (Record<string, unknown> | string)[]): void {
    // Records are byte strings.
    for (const alert of alerts) {
      const text = typeof alert === 'string' ? alert : JSON.stringify(alert);
      this.file.append(Buffer.from(`${text}\n`).toString('latin1'));
    }
    this.file.flush();
  }

  close(): void {
    this.file.close();
  }
}
