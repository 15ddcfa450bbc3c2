import { basename } from 'node:path';
import type { LogOrigin } from './log-line.js';

const FRAME = /^\s*at (?:(?:async )?(?:new )?(.*?) \()?(?:file:\/\/)?([^()]*?):(\d+):\d+\)?$/;

/**
 * Place in the code that called the logger, from a stack trace. Costs microseconds, so only debug mode asks for it.
 * @param skip frames of the logger itself
 */
export function callerOrigin(skip: number): LogOrigin {
  const frames = new Error().stack?.split('\n') ?? [];
  // The first line is the message, the second this function.
  const match = FRAME.exec(frames[2 + skip] ?? '');
  return {
    pid: process.pid,
    file: match?.[2] === undefined ? 'unknown' : basename(match[2]),
    line: match?.[3] === undefined ? 0 : Number(match[3]),
    routine: match?.[1] === undefined || match[1] === '' ? 'main' : match[1].replace(/[\s:()]/g, '_'),
  };
}
