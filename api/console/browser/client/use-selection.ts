import { useCallback, useEffect, useState } from 'preact/hooks';

/** What is selected in a list, over its pages. @param key what is looked for: whoever looks for something else begins anew */
export function useSelection(key: string) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const unselect = useCallback(() => setSelected(new Set()), []);
  useEffect(unselect, [key]);
  const select = useCallback((id: string, isSelected: boolean) => {
    setSelected((before) => {
      const after = new Set(before);
      if (isSelected) after.add(id);
      else after.delete(id);
      return after;
    });
  }, []);
  return [selected, select, unselect] as const;
}
