import { useState } from 'preact/hooks';
import { useConsole } from './console-context.js';

/**
 * Something that a window does, and is closed behind; its failure is shown in it, and it stays. Who has to log in again finds it as it was.
 */
export function useDeed<Given extends readonly unknown[]>(
  deed: (...given: Given) => Promise<void>,
  onDone: () => void,
) {
  const { session } = useConsole();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async (...given: Given): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await deed(...given);
      onDone();
    } catch (failure) {
      if (session.isOpen) setError(failure);
      setBusy(false);
    }
  };
  return { run, isBusy, error };
}
