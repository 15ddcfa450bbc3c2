import { setTimeout as delay } from 'node:timers/promises';
import type { EventProducer } from '../../lib/bus/event-producer.js';

/** What holds events while the bus has no room. */
export interface EventQueue {
  /** Resolves when it holds none. */
  empty(): Promise<void>;
  /** Nothing more is handed on. */
  close(): void;
}

/** Hands on what waits for the bus, and waits until it is acknowledged. */
export async function handOver(
  queues: readonly EventQueue[],
  producer: EventProducer,
  withinMs: number,
): Promise<void> {
  const end = performance.now() + withinMs;
  await Promise.race([Promise.all(queues.map((queue) => queue.empty())), delay(withinMs)]);
  for (const queue of queues) queue.close();
  await producer.close(Math.max(0, end - performance.now()));
}
