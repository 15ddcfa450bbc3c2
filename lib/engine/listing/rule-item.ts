import type { DetailValue } from './detail-value.js';
import type { ListedFile } from './listing-source.js';

/** Requirement tags that have an array of their own in a listed rule (rules-and-alerts.md 10.2). */
export const REQUIREMENTS = ['pci_dss', 'gpg13', 'gdpr', 'hipaa', 'nist_800_53', 'tsc', 'mitre'] as const;
export type Requirement = (typeof REQUIREMENTS)[number];

/** A rule as `GET /rules` shows it (rules-and-alerts.md 10.2); members are in the order shown. */
export type RuleItem = {
  readonly filename: ListedFile['filename'];
  readonly relative_dirname: ListedFile['relative_dirname'];
  readonly id: number;
  readonly level: number;
  readonly status: ListedFile['status'];
  /** Has no prototype: keys come from files. */
  readonly details: Readonly<Record<string, DetailValue>>;
  readonly pci_dss: readonly string[];
  readonly gpg13: readonly string[];
  readonly gdpr: readonly string[];
  readonly hipaa: readonly string[];
  readonly nist_800_53: readonly string[];
  readonly tsc: readonly string[];
  readonly mitre: readonly string[];
  readonly groups: readonly string[];
  readonly description: string;
};
