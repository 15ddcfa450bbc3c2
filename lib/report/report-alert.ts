/** What a report needs of an alert, whatever form it was read from. A text that the alert does not have is empty. */
export interface ReportAlert {
  /** `2025 Jun 05 10:11:23`, local time. */
  readonly date: string;
  /** As alerts.log has it: `(web) 10.0.0.7->/var/log/auth.log`. */
  readonly location: string;
  /** As alerts.log has them: `sshd,auth,pci_dss_10.2.4,`. */
  readonly groups: string;
  readonly ruleId: string;
  readonly level: number;
  readonly description: string;
  readonly srcip: string;
  readonly user: string;
  /** The file that an alert of file integrity is about. */
  readonly filename: string;
  /** The log; several lines where it has them. */
  readonly log: string;
}
