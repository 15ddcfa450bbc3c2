import type { LocalfileConfig } from '../../lib/config/sections/localfile.js';
import { describeBlock } from './file-source.js';

/** A `<socket>` block. */
export type SocketConfig = {
  readonly name: string;
  readonly location: string;
  /** `udp` or `tcp`: datagrams or a stream. */
  readonly mode: string;
  readonly prefix: string;
  /** For messages about this block. */
  readonly file: string;
  readonly line: number;
};

/** The `target` that is no socket: the sink of the home. */
export const AGENT_TARGET = 'agent';

/** What can be written to: Node has no datagrams for unix sockets. */
export function usableSockets(sockets: readonly SocketConfig[], tell: (text: string) => void): SocketConfig[] {
  return sockets.filter(({ name, mode, file, line }) => {
    if (mode === 'tcp') return true;
    tell(
      `socket in ${file}, line ${String(line)}: mode 'udp' of '${name}' is not available and nothing is written to it; ` +
        'use <mode>tcp</mode> where a stream socket listens',
    );
    return false;
  });
}

/**
 * Blocks with targets that there are alone; one that has no other is left out. Each that is not there is told.
 * @param configured all sockets; @param usable those that can be written to
 */
export function withUsableTargets(
  blocks: readonly LocalfileConfig[],
  configured: readonly SocketConfig[],
  usable: readonly SocketConfig[],
  tell: (text: string) => void,
): LocalfileConfig[] {
  const names = new Set([AGENT_TARGET, ...usable.map(({ name }) => name)]);
  return blocks.flatMap((block) => {
    const target = block.target.filter((name) => names.has(name));
    for (const name of block.target.filter((each) => !names.has(each))) {
      const reason = configured.some((socket) => socket.name === name)
        ? `the socket '${name}' is not available`
        : `there is no socket '${name}'`;
      tell(`${describeBlock(block)}: ${reason}, ${target.length > 0 ? 'it gets nothing' : 'the block is not used'}`);
    }
    return target.length > 0 ? [{ ...block, target }] : [];
  });
}
