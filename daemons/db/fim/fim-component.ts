/** Tables an agent has of its files and its registry (integrity-and-inventory.md 4.3). */
export const FIM_COMPONENTS = ['fim_file', 'fim_registry_key', 'fim_registry_value'] as const;
export type FimComponent = (typeof FIM_COMPONENTS)[number];
/** What is kept of an agent: those tables, and what rootcheck found. */
export type Component = FimComponent | 'rootcheck';

/** Numbers of components in keys: never to be changed. */
const CODES: Readonly<Record<Component, number>> = {
  fim_file: 1,
  fim_registry_key: 2,
  fim_registry_value: 3,
  rootcheck: 9,
};
const COMPONENTS_PER_AGENT = 16;

/** Key of what is known of an agent's component. @param agent `001` */
export function componentKey(agent: string, component: Component): number {
  return Number(agent) * COMPONENTS_PER_AGENT + CODES[component];
}

/** Number of the agent that such a key belongs to. */
export function agentOfKey(key: number): number {
  return Math.floor(key / COMPONENTS_PER_AGENT);
}

/** Component of a type of entry; old agents say `registry` for keys (7.1). */
export function componentOfType(type: string): FimComponent | undefined {
  switch (type) {
    case 'file':
      return 'fim_file';
    case 'registry':
    case 'registry_key':
      return 'fim_registry_key';
    case 'registry_value':
      return 'fim_registry_value';
    default:
      return undefined;
  }
}

/** Component that a name on the wire means; `syscheck` and `fim_registry` are those of old agents. */
export function componentOfName(name: string): FimComponent | undefined {
  switch (name) {
    case 'syscheck':
      return 'fim_file';
    case 'fim_registry':
      return 'fim_registry_key';
    default:
      return FIM_COMPONENTS.find((component) => component === name);
  }
}
