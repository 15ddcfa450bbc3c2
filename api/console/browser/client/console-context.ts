import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { ApiClient } from './api-client.js';
import type { Notices } from './notices.js';
import type { Session } from './session.js';

/** What every page works with. */
export type ConsoleParts = { readonly session: Session; readonly api: ApiClient; readonly notices: Notices };

export const ConsoleContext = createContext<ConsoleParts | undefined>(undefined);

export function useConsole(): ConsoleParts {
  const parts = useContext(ConsoleContext);
  if (parts === undefined) throw new Error('outside the console');
  return parts;
}

/** Whether somebody is logged in; shows anew when that changes. */
export function useSessionOpen(session: Session): boolean {
  const [isOpen, setOpen] = useState(session.isOpen);
  useEffect(() => session.listen(() => setOpen(session.isOpen)), [session]);
  return isOpen;
}

/** Which user it is, counted; shows anew when another one logs in. */
export function useGeneration(session: Session): number {
  const [generation, setGeneration] = useState(session.generation);
  useEffect(() => session.listen(() => setGeneration(session.generation)), [session]);
  return generation;
}
