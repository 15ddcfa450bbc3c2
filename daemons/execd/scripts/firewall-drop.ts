import { isIPv6 } from 'node:net';
import type { Outcome, Response } from './response.js';
import type { Tools } from './tools.js';

/** Our own table: what other programs have in the firewall is left alone. */
const TABLE = 'inet security_manager';
/** Chains of iptables an address is dropped in. */
const CHAINS = ['INPUT', 'FORWARD'] as const;
/** Rules of one address in one chain that are taken out: others, or older versions, may have put in some more. */
const MOST_RULES = 10;
/** How iptables says that there is no such rule. */
const NO_SUCH_RULE = 1;
/** How nft says that there is no such element, set or table. */
const NO_SUCH_ELEMENT = 'No such file or directory';
/** nft gives up with EINTR when others change the firewall meanwhile, as our responses for other addresses do. */
const NFT_TRIES = 5;

/**
 * `firewall-drop`: packets of an address are dropped. With nftables it is an element of a set in a table of our own, else,
 * and where nftables does not work, a rule of iptables or ip6tables (daemons-and-config.md 5.4).
 */
export const FIREWALL_DROP: Response = {
  subject: 'address',
  add(address, { tools }) {
    const nft = tools.find('nft');
    const byNft = nft === undefined ? undefined : nftAdd(tools, nft, address);
    if (nft !== undefined && byNft === undefined) return undefined;
    const iptables = tools.find(tableTool(address));
    if (iptables === undefined) return byNft ?? `There is neither nft nor ${tableTool(address)}`;
    return ruleAdd(tools, iptables, address);
  },
  remove(address, { tools }) {
    const nft = tools.find('nft');
    const iptables = tools.find(tableTool(address));
    if (nft === undefined && iptables === undefined) return `There is neither nft nor ${tableTool(address)}`;
    // It is taken out wherever it may be: which tool there is may have changed meanwhile.
    const outcomes: Outcome[] = [];
    if (nft !== undefined) {
      const outcome = nftRemove(tools, nft, address);
      // Where nftables works it still drops the address, whatever iptables says.
      if (outcome !== undefined && tools.run(nft, ['list', 'tables']).ok) return outcome;
      outcomes.push(outcome);
    }
    if (iptables !== undefined) outcomes.push(ruleRemove(tools, iptables, address));
    return outcomes.includes(undefined) ? undefined : outcomes[0];
  },
};

function tableTool(address: string): string {
  return isIPv6(address) ? 'ip6tables' : 'iptables';
}

function setOf(address: string): string {
  return isIPv6(address) ? 'blocked6' : 'blocked4';
}

/** The table as it has to be, made or mended; one transaction, so that nothing is open in between. */
function nftTable(): string[] {
  const chains = ['input', 'forward'].flatMap((chain) => [
    `add chain ${TABLE} ${chain} { type filter hook ${chain} priority -10; policy accept; }`,
    `flush chain ${TABLE} ${chain}`,
    `add rule ${TABLE} ${chain} ip saddr @blocked4 drop`,
    `add rule ${TABLE} ${chain} ip6 saddr @blocked6 drop`,
  ]);
  return [
    `add table ${TABLE}`,
    `add set ${TABLE} blocked4 { type ipv4_addr; }`,
    `add set ${TABLE} blocked6 { type ipv6_addr; }`,
    ...chains,
  ];
}

function nftAdd(tools: Tools, nft: string, address: string): Outcome {
  const script = [...nftTable(), `add element ${TABLE} ${setOf(address)} { ${address} }`];
  const { ok, problem } = tools.run(nft, ['-f', '-'], `${script.join('\n')}\n`);
  return ok ? undefined : problem;
}

/** It is not asked first whether the element is there: an answer that fails would pass for one that says no. */
function nftRemove(tools: Tools, nft: string, address: string): Outcome {
  let outcome: Outcome;
  for (let tried = 0; tried < NFT_TRIES; tried += 1) {
    const { ok, problem } = tools.run(nft, [
      'delete',
      'element',
      ...TABLE.split(' '),
      setOf(address),
      `{ ${address} }`,
    ]);
    if (ok || problem.includes(NO_SUCH_ELEMENT)) return undefined;
    outcome = problem;
  }
  return outcome;
}

function ruleAdd(tools: Tools, iptables: string, address: string): Outcome {
  for (const chain of CHAINS) {
    const rule = [chain, '-s', address, '-j', 'DROP'];
    if (tools.run(iptables, ['-w', '-C', ...rule]).ok) continue;
    const { ok, problem } = tools.run(iptables, ['-w', '-I', ...rule]);
    if (!ok) return problem;
  }
  return undefined;
}

function ruleRemove(tools: Tools, iptables: string, address: string): Outcome {
  for (const chain of CHAINS) {
    const rule = [chain, '-s', address, '-j', 'DROP'];
    for (let count = 0; count < MOST_RULES; count += 1) {
      const check = tools.run(iptables, ['-w', '-C', ...rule]);
      if (check.code === NO_SUCH_RULE) break;
      const { ok, problem } = check.ok ? tools.run(iptables, ['-w', '-D', ...rule]) : check;
      if (!ok) return problem;
    }
  }
  return undefined;
}
