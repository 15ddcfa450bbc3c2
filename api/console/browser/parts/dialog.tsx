import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { describe } from '../client/notices.js';
import { useDeed } from '../client/use-deed.js';
import { TEXTS } from '../texts.js';

type DialogProps = {
  readonly title: string;
  /** Without it there is no way out of the window but what is asked for in it. */
  readonly onClose?: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
};

/** A window in front of the page; Escape closes it, and the focus goes back to where it was. */
export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? 'wide' : undefined}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      // Some browsers close it at the second Escape, whatever the page says to that.
      onClose={() => {
        if (onClose === undefined) dialog.current?.showModal();
        else onClose();
      }}
    >
      <header class="card-head">
        <h2 id={id}>{title}</h2>
        {onClose !== undefined && (
          <button type="button" class="quiet" aria-label={TEXTS.common.close} onClick={onClose}>
            ✕
          </button>
        )}
      </header>
      {children}
    </dialog>
  );
}

type ConfirmProps = {
  readonly title: string;
  readonly children: ComponentChildren;
  /** What the button says: the deed, not OK. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** False while something is still to be chosen or to be seen. */
  readonly isReady?: boolean;
  readonly wide?: boolean;
  /** Does it; its failure is shown, and the question stays. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
};

/** Asks before something is done. */
export function Confirm(props: ConfirmProps) {
  const { title, children, action, isDangerous = false, isReady = true, wide = false, onConfirm, onClose } = props;
  const { run, isBusy, error } = useDeed(onConfirm, onClose);
  return (
    <Dialog title={title} onClose={onClose} wide={wide}>
      <div class="stack">
        {children}
        <DialogFoot error={error} onClose={onClose}>
          <button
            type="button"
            class={isDangerous ? 'danger' : 'primary'}
            disabled={isBusy || !isReady}
            onClick={() => void run()}
          >
            {action}
          </button>
        </DialogFoot>
      </div>
    </Dialog>
  );
}

type DialogFootProps = {
  /** Why it was not done. */
  readonly error: unknown;
  readonly onClose: () => void;
  /** The button that does it. */
  readonly children: ComponentChildren;
};

/** The ways out of a window. */
export function DialogFoot({ error, onClose, children }: DialogFootProps) {
  return (
    <>
      {error !== undefined && (
        <p class="failed" role="alert">
          {describe(error)}
        </p>
      )}
      <div class="actions">
        <button type="button" onClick={onClose}>
          {TEXTS.common.cancel}
        </button>
        {children}
      </div>
    </>
  );
}
