/** Environment variables. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * A path that is wholly `$NAME` becomes the paths in the variable, split at `:` (integrity-and-inventory.md 2.5).
 * @returns `unknown` when there is no such variable; the bare name is then the path, as the reference has it
 */
export function expandVariable(
  path: string,
  variables: Variables,
): { readonly paths: string[]; readonly unknown?: string } {
  if (!path.startsWith('$')) return { paths: [path] };
  const name = path.slice(1);
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  if (value === undefined) return { paths: [name], unknown: name };
  return { paths: value.split(':').filter((part) => part !== '') };
}
