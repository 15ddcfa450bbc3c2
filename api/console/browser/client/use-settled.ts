import { useEffect, useState } from 'preact/hooks';

/** A value once it has not changed for so long, milliseconds: what somebody types is not asked for letter by letter. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
