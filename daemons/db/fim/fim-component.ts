import type { FimComponent } from '../../../lib/events/fim/fim-component.js';

/** What is kept of an agent: those tables, and what rootcheck found. */
export type StoredComponent = FimComponent | 'rootcheck';

/** Numbers of components in keys: never to be changed. */
const CODES: Readonly<Record<StoredComponent, number>> = {
  fim_file: 1,
  fim_registry_key: 2,
  fim_registry_value: 3,
  rootcheck: 9,
};
const COMPONENTS_PER_AGENT = 16;

/** Key of what is known of an agent's component. @param agent `001` */
export function componentKey(agent: string, component: StoredComponent): number {
  return Number(agent) * COMPONENTS_PER_AGENT + CODES[component];
}

/** Number of the agent that such a key belongs to. */
export function agentOfKey(key: number): number {
  return Math.floor(key / COMPONENTS_PER_AGENT);
}
