import type { PageProps } from '../../shell/page-props.js';
import { AgentListPage } from './agent-list-page.js';
import { AgentPage } from './agent-page.js';
import { EnrolPage } from './enrol-page.js';

/** Agents: all of them, one of them by its id, or how to get a new one. */
export function AgentsPage({ path: [id] }: PageProps) {
  if (id === undefined) return <AgentListPage />;
  return id === 'enrol' ? <EnrolPage /> : <AgentPage key={id} id={id} />;
}
