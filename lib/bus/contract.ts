import type { z } from 'zod';
import type { DaemonName } from '../product/daemon-names.js';

/** What one method takes and gives. Plain data only: what msgpack carries without extension types. */
export type MethodContract = { readonly params: z.ZodType; readonly result: z.ZodType };

export type Methods = Readonly<Record<string, MethodContract>>;

/** All methods a daemon answers on its request socket (architecture.md 4 "Requests"). */
export type Contract<M extends Methods = Methods> = { readonly daemon: DaemonName; readonly methods: M };

export type MethodName<C extends Contract> = keyof C['methods'] & string;
/** Parameters as a caller writes them. */
export type CallParams<C extends Contract, K extends MethodName<C>> = z.input<C['methods'][K]['params']>;
/** Parameters as a handler gets them, after the schema's defaults and conversions. */
export type HandlerParams<C extends Contract, K extends MethodName<C>> = z.output<C['methods'][K]['params']>;
/** A result as a handler returns it. */
export type HandlerResult<C extends Contract, K extends MethodName<C>> = z.input<C['methods'][K]['result']>;
/** A result as a caller gets it. */
export type CallResult<C extends Contract, K extends MethodName<C>> = z.output<C['methods'][K]['result']>;

/** What a handler may ask about the call that it answers. */
export type ServedCall = {
  /** Whether somebody still waits for the answer: not once the caller's deadline is over. What is begun then nobody hears of. */
  readonly isWanted: () => boolean;
};

/** One function a method. A {@link BusError} thrown by it reaches the caller as it is, anything else as `internal`. */
export type Handlers<C extends Contract> = {
  readonly [K in MethodName<C>]: (
    params: HandlerParams<C, K>,
    call?: ServedCall,
  ) => HandlerResult<C, K> | Promise<HandlerResult<C, K>>;
};

/**
 * Declares what a daemon answers: `lib/bus/contracts/<short>.ts` exports one. Server and client are both made from it,
 * so that both ends agree on every type.
 */
export function defineContract<const M extends Methods>(daemon: DaemonName, methods: M): Contract<M> {
  return { daemon, methods };
}
