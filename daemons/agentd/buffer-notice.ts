import type { BufferLevel } from './event-buffer.js';

/** What is said of a new level: in the log of the agent, and as an event (agents-and-groups.md 5.3). */
export type BufferNotice = { readonly severity: 'info' | 'warn'; readonly log: string; readonly event: string };

/** @param warn @param normal percent, for the texts */
export function bufferNotice(level: BufferLevel, warn: number, normal: number): BufferNotice {
  const event = (word: string): string => `wazuh: Agent buffer: '${word}'.`;
  switch (level) {
    case 'normal':
      return {
        severity: 'info',
        log: `Agent buffer is under ${normal} %. Working properly again.`,
        event: event('normal'),
      };
    case 'warning':
      return { severity: 'warn', log: `Agent buffer at ${warn} %.`, event: event(`${warn}%`) };
    case 'full':
      return { severity: 'warn', log: 'Agent buffer is full: Events may be lost.', event: event('full') };
    case 'flood':
      return {
        severity: 'warn',
        log: 'Agent buffer is flooded: Producing too many events.',
        event: event('flooded'),
      };
  }
}
