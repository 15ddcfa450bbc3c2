export type AddressFamily = 'ipv4' | 'ipv6';
