/** Audit categories of Windows by number: the name, and the names of their subcategories (decoding.md 4.12). */
export const AUDIT_CATEGORIES: ReadonlyMap<number, readonly [string, ReadonlyMap<number, string>]> = new Map([
  category(8272, 'System', 12288, [
    'Security State Change',
    'Security System Extension',
    'System Integrity',
    'IPsec Driver',
    'Other System Events',
  ]),
  category(8273, 'Logon/Logoff', 12544, [
    'Logon',
    'Logoff',
    'Account Lockout',
    'IPsec Main Mode',
    'Special Logon',
    'IPSec Extended Mode',
    'IPSec Quick Mode',
    'Other Logon/Logoff Events',
    'Network Policy Server',
    'User/Device Claims',
    'Group Membership',
  ]),
  category(8274, 'Object Access', 12800, [
    'File System',
    'Registry',
    'Kernel Object',
    'SAM',
    'Other Object Access Events',
    'Certification Services',
    'Application Generated',
    'Handle Manipulation',
    'File Share',
    'Filtering Platform Packet Drop',
    'Filtering Platform Connection',
    'Detailed File Share',
    'Removable Storage',
    'Central Policy Staging',
  ]),
  category(8275, 'Privilege Use', 13056, [
    'Sensitive Privilege Use',
    'Non Sensitive Privilege Use',
    'Other Privilege Use Events',
  ]),
  category(8276, 'Detailed Tracking', 13312, [
    'Process Creation',
    'Process Termination',
    'DPAPI Activity',
    'RPC Events',
    'Plug and Play Events',
    'Token Right Adjusted Events',
  ]),
  category(8277, 'Policy Change', 13568, [
    'Audit Policy Change',
    'Authentication Policy Change',
    'Authorization Policy Change',
    'MPSSVC Rule-Level Policy Change',
    'Filtering Platform Policy Change',
    'Other Policy Change Events',
  ]),
  category(8278, 'Account Management', 13824, [
    'User Account Management',
    'Computer Account Management',
    'Security Group Management',
    'Distribution Group Management',
    'Application Group Management',
    'Other Account Management Events',
  ]),
  category(8279, 'DS Access', 14080, [
    'Directory Service Access',
    'Directory Service Changes',
    'Directory Service Replication',
    'Detailed Directory Service Replication',
  ]),
  category(8280, 'Account Logon', 14336, [
    'Credential Validation',
    'Kerberos Service Ticket Operations',
    'Other Account Logon Events',
    'Kerberos Authentication Service',
  ]),
]);

/** Subcategories are numbered one after another. */
function category(
  id: number,
  name: string,
  first: number,
  subcategories: readonly string[],
): [number, readonly [string, ReadonlyMap<number, string>]] {
  return [id, [name, new Map(subcategories.map((subcategory, index) => [first + index, subcategory]))]];
}

/** What an audit policy change did, by number. */
export const POLICY_CHANGES: ReadonlyMap<string, string> = new Map([
  ['8448', 'Success removed'],
  ['8449', 'Success added'],
  ['8450', 'Failure removed'],
  ['8451', 'Failure added'],
]);
