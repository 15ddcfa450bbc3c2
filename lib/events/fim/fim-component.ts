/** Tables an agent has of its files and its registry (integrity-and-inventory.md 4.3). */
export const FIM_COMPONENTS = ['fim_file', 'fim_registry_key', 'fim_registry_value'] as const;
export type FimComponent = (typeof FIM_COMPONENTS)[number];

/** What the tables are called in messages of queue 5; `syscheck` and `fim_registry` are names of old agents (4.3). */
export const FIM_COMPONENT_NAMES = [...FIM_COMPONENTS, 'syscheck', 'fim_registry'] as const;

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
