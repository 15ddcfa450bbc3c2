/** A value as the bus sends it: its contracts have lists that may be changed. */
type BusValue<Value> = Value extends readonly (infer Element)[] ? Element[] : Value;

/** Of an object those members that are named and not undefined. */
export type Given<T, K extends PropertyKey> = { [Name in K & keyof T]?: BusValue<Exclude<T[Name], undefined>> };

/**
 * The parameters of a request that another part takes by the same names: those that the client gave. What the request's
 * operation does not have is left out.
 */
export function pickGiven<T extends object, K extends PropertyKey>(parameters: T, names: readonly K[]): Given<T, K> {
  const given: Partial<Record<PropertyKey, unknown>> = {};
  for (const name of names) {
    const value = (parameters as Readonly<Record<PropertyKey, unknown>>)[name];
    if (value !== undefined) given[name] = value;
  }
  return given as Given<T, K>;
}
