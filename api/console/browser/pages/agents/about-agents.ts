/** Agents that something is to be done to. */
export type AboutAgents = {
  readonly ids: readonly string[];
  /** What they are called in a question. */
  readonly what: string;
  /** Told when something was done. @param areGone whether the agents were removed */
  readonly onDone: (areGone: boolean) => void;
};

/** What a dialog about them gets. */
export type DeedProps = AboutAgents & { readonly onClose: () => void };
