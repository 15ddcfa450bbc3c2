/**
 * Queue ids: one character in front of each event that says where it comes from, and so which decoder it gets
 * (decoding.md 3.1, agents-and-groups.md 5.1). Any other character is taken like that of logs.
 */
export const QUEUE_IDS = {
  /** Lines of files, output of commands, and what daemons tell of themselves. */
  log: '1',
  /** Remote syslog; the location is the sender's address. */
  syslog: '2',
  hostInformation: '3',
  /** Marks a message inside a manager that has its origin already. */
  tagged: '4',
  /** Synchronisation with the agent's database, never an event. */
  synchronization: '5',
  fileIntegrity: '8',
  rootcheck: '9',
  inventory: 'd',
  cisCat: 'e',
  windowsEventChannel: 'f',
  policyAssessment: 'p',
  /** Results of upgrades, never events. */
  upgrade: 'u',
} as const;
