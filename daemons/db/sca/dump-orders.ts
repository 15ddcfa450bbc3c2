/** What an agent is to be told. */
export type AgentOrder = { readonly agent: string; readonly text: string };

/** The requests for results that a call of `sca.apply` comes to: what is answered by a later event of it is not asked. */
export class DumpOrders {
  readonly #wanted = new Map<string, { readonly agent: string; readonly policyId: string; readonly first: boolean }>();

  /** @param first whether the summary is to come again behind the results (integrity-and-inventory.md 10.4) */
  want(agent: string, policyId: string, first: boolean): void {
    this.#wanted.set(nameOf(agent, policyId), { agent, policyId, first });
  }

  /** Nothing lacks any more. */
  drop(agent: string, policyId: string): void {
    this.#wanted.delete(nameOf(agent, policyId));
  }

  list(): AgentOrder[] {
    return [...this.#wanted.values()].map(({ agent, policyId, first }) => ({
      agent,
      text: `sca-dump:${policyId}:${first ? '1' : '0'}`,
    }));
  }
}

function nameOf(agent: string, policyId: string): string {
  return `${agent}:${policyId}`;
}
