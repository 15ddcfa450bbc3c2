import { useConsole } from '../../client/console-context.js';
import { TEXTS } from '../../texts.js';

type MayButtonProps = {
  readonly label: string;
  /** Told to screen readers, where several buttons of a list have the same label. */
  readonly name?: string;
  /** The action that it takes. */
  readonly action: string;
  readonly kind?: 'danger';
  /** Why it cannot be done to this one. */
  readonly reason?: string | undefined;
  readonly onClick: () => void;
};

/** A button that says why it cannot be used. */
export function MayButton({ label, name, action, kind, reason, onClick }: MayButtonProps) {
  const { session } = useConsole();
  const why = session.may(action) ? reason : TEXTS.manager.denied;
  return (
    <button
      type="button"
      class={kind}
      disabled={why !== undefined}
      title={why}
      aria-label={name === undefined ? undefined : `${label}: ${name}`}
      onClick={onClick}
    >
      {label}
    </button>
  );
}
