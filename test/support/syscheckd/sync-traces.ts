import type { FimRow } from '../../../lib/events/fim/fim-messages.js';
import { syncRow } from './sync-rows.js';

/** What the manager says, none in front of the first round, and what the agent sends then: texts of queue 5. */
export type SyncTrace = readonly { readonly order?: string; readonly messages: readonly string[] }[];

/** A file as it was recorded. @param hashes md5, sha1, sha256 and checksum of the entry */
function recorded(
  key: string,
  { size, inode, mtime, lastEvent }: { size: number; inode: string; mtime: number; lastEvent: number },
  hashes: readonly [md5: string, sha1: string, sha256: string, checksum: string],
): FimRow {
  const [hash_md5, hash_sha1, hash_sha256, checksum] = hashes;
  const owner = { perm: 'rw-r--r--', uid: '0', gid: '0', user_name: 'root', group_name: 'root' };
  const attributes = { size, ...owner, inode, mtime, hash_md5, hash_sha1, hash_sha256, checksum };
  return { key, checksum, attributes, inode, lastEvent };
}

/** Messages of one round, of files in one directory. */
function round(directory: string, id: number) {
  const behind = (end: string): string => `"end":"${directory}/${end}","id":${id}`;
  return {
    check: (side: string, begin: string, checksum: string, end: string, tail?: string): string =>
      `{"component":"fim_file","data":{"begin":"${directory}/${begin}","checksum":"${checksum}",${behind(end)}` +
      `${tail === undefined ? '' : `,"tail":"${directory}/${tail}"`}},"type":"integrity_check_${side}"}`,
    answer: (verb: 'checksum_fail' | 'no_data', begin: string, end: string): string =>
      `fim_file dbsync ${verb} {"begin":"${directory}/${begin}",${behind(end)}}`,
  };
}

const HELLO = [
  '6f5902ac237024bdd0c176cb93063dc4',
  '22596363b3de40b06f981fb85d82312e8c0ed511',
  'a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447',
] as const;

/** Epoch seconds of the round of `SPEC_TRACE`. */
export const SPEC_TIME = 1_700_001_000;

/** The agent's rows of integrity-and-inventory.md 5.3. */
export const SPEC_ROWS: readonly FimRow[] = [
  '3f39d4406ddedbbb4b06c84e688ec43f027f2e19',
  'e282f39c76672f3f883cfd58a1e3b110c3b9d5a5',
  'b1f98ae97cfa4c40fe16dcdad56553b132aa8263',
  'f6c7f7cc067b6ba160ef275369210ef3d19a9f90',
  '845b0bac0d59c9f96e6e43350da02b241d8781b1',
].map((checksum, index) => {
  const facts = { size: 12, inode: String(200_000 + index), mtime: 1_700_000_000 + index, lastEvent: 1_700_000_900 };
  return recorded(`/etc/${'abcde'.charAt(index)}`, facts, [...HELLO, checksum]);
});

const { check: specCheck, answer: specAnswer } = round('/etc', SPEC_TIME);

/** The worked example of integrity-and-inventory.md 5.3. */
export const SPEC_TRACE: SyncTrace = [
  { messages: [specCheck('global', 'a', 'ab679e59e3accb211660b7a1a7d97c688ce8fd3a', 'e')] },
  {
    order: specAnswer('checksum_fail', 'a', 'e'),
    messages: [
      specCheck('left', 'a', '3bd8628bfeba939c1b641928224190afee36bc52', 'b', 'c'),
      specCheck('right', 'c', '5eeee39e6809b9bb96ac266ed6c2d69aee22fcf3', 'e'),
    ],
  },
  {
    order: specAnswer('checksum_fail', 'c', 'e'),
    messages: [
      specCheck('left', 'c', '2e2f546f44a038e206688494e4dd2f710b260a32', 'c', 'd'),
      specCheck('right', 'd', '89583461037dad525bde5241302fc8fd98710b1c', 'e'),
    ],
  },
  {
    order: specAnswer('checksum_fail', 'd', 'e'),
    messages: [
      specCheck('left', 'd', '3215dfeb207b4937cf076121f06fef4bcdab4b04', 'd', 'e'),
      specCheck('right', 'e', '183652bce8e6a1049a66aa116d71acfd5e25c404', 'e'),
    ],
  },
  {
    order: specAnswer('checksum_fail', 'd', 'd'),
    messages: [
      '{"component":"fim_file","data":{"attributes":{"attributes":"","checksum":"f6c7f7cc067b6ba160ef275369210ef3d19a9f90",' +
        '"gid":"0","group_name":"root","hash_md5":"6f5902ac237024bdd0c176cb93063dc4",' +
        '"hash_sha1":"22596363b3de40b06f981fb85d82312e8c0ed511",' +
        '"hash_sha256":"a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447","inode":"200003",' +
        '"mtime":1700000003,"perm":"rw-r--r--","size":12,"type":"file","uid":"0","user_name":"root"},' +
        '"index":"/etc/d","timestamp":1700000900},"type":"state"}',
    ],
  },
];

/** Epoch seconds of the round of `FIRST_TRACE`. */
export const FIRST_TIME = 1_795_220_397;

/** The agent's rows of agent-transcript.md 6. */
export const FIRST_ROWS: readonly FimRow[] = [
  recorded('/fim/a.txt', { size: 6, inode: '2303207', mtime: 1_795_219_946, lastEvent: FIRST_TIME }, [
    'b1946ac92492d2347c6235b4d2611184',
    'f572d396fae9206628714fb2ce00f72e94f2258f',
    '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03',
    '6bcb04a5d71e0bf79b4a195ee1aad6e3996a6d54',
  ]),
  recorded('/fim/b.txt', { size: 4, inode: '2303208', mtime: 1_795_219_946, lastEvent: FIRST_TIME }, [
    'c193497a1a06b2c72230e6146ff47080',
    '7bbef45b3bc70855010e02460717643125c3beca',
    '27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a',
    '8e167195a110d446caac80753a7238feeff056d3',
  ]),
];

/** The first synchronisation as it was recorded (agent-transcript.md 6). */
export const FIRST_TRACE: SyncTrace = [
  {
    messages: [round('/fim', FIRST_TIME).check('global', 'a.txt', 'eb9193b0c923219f588640a38e0204088a0ca2a5', 'b.txt')],
  },
  {
    order: round('/fim', FIRST_TIME).answer('no_data', 'a.txt', 'b.txt'),
    messages: [
      '{"component":"fim_file","data":{"attributes":{"attributes":"","checksum":"6bcb04a5d71e0bf79b4a195ee1aad6e3996a6d54","gid":"0","group_name":"root","hash_md5":"b1946ac92492d2347c6235b4d2611184","hash_sha1":"f572d396fae9206628714fb2ce00f72e94f2258f","hash_sha256":"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03","inode":"2303207","mtime":1795219946,"perm":"rw-r--r--","size":6,"type":"file","uid":"0","user_name":"root"},"index":"/fim/a.txt","timestamp":1795220397},"type":"state"}',
      '{"component":"fim_file","data":{"attributes":{"attributes":"","checksum":"8e167195a110d446caac80753a7238feeff056d3","gid":"0","group_name":"root","hash_md5":"c193497a1a06b2c72230e6146ff47080","hash_sha1":"7bbef45b3bc70855010e02460717643125c3beca","hash_sha256":"27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a","inode":"2303208","mtime":1795219946,"perm":"rw-r--r--","size":4,"type":"file","uid":"0","user_name":"root"},"index":"/fim/b.txt","timestamp":1795220397},"type":"state"}',
    ],
  },
];

/** Epoch seconds of the round of `REPAIR_TRACE`. */
export const REPAIR_TIME = 1_795_220_637;
/** In `REPAIR_TRACE`: the checksum of rows of which not all were recorded. */
export const UNKNOWN = '*';

/** The agent's rows of agent-transcript.md 8; the checksums of f2, f4, f5, f7 and f8 were not recorded. */
export const REPAIR_ROWS: readonly FimRow[] = [
  syncRow('/fim/b.txt', '5e6efcc895808031f8ff9de7954367fdf9f8ddb5'),
  syncRow('/fim/c.txt', 'dec6f8c9ab69efdf3bee8597024df9c7a93d007f'),
  syncRow('/fim/f1.txt', '6e3aa6ce905ab8818d0334a665f768db8753db33'),
  recorded('/fim/f3.txt', { size: 2, inode: '2304578', mtime: 1_795_220_445, lastEvent: 1_795_220_445 }, [
    '6d7fce9fee471194aa8b5b6e47267f03',
    'a3db5c13ff90a36963278c6a39e4ee3c22e2a436',
    '1121cfccd5913f0a63fec40a6ffd44ea64f9dc135c66634ba001d10bcf4302a2',
    'aa9b0af0b0d3343aa3a0de0cfe2a61797275edda',
  ]),
  recorded('/fim/f6.txt', { size: 2, inode: '2304581', mtime: 1_795_220_445, lastEvent: 1_795_220_445 }, [
    '9ae0ea9e3c9c6e1b9b6252c8395efdc1',
    'ccf271b7830882da1791852baeca1737fcbe4b90',
    '06e9d52c1720fca412803e3b07c4b228ff113e303f4c7ab94665319d832bbfb7',
    'aec7488b2d4e874d9df1505a7e5c483a0d0bdf5c',
  ]),
  ...['f2', 'f4', 'f5', 'f7', 'f8'].map((name, index) => syncRow(`/fim/${name}.txt`, String(index).repeat(40))),
];

const { check: repairCheck, answer: repairAnswer } = round('/fim', REPAIR_TIME);
const left = (begin: string, end: string, tail: string, checksum = UNKNOWN): string =>
  repairCheck('left', `${begin}.txt`, checksum, `${end}.txt`, `${tail}.txt`);
const right = (begin: string, end: string, checksum = UNKNOWN): string =>
  repairCheck('right', `${begin}.txt`, checksum, `${end}.txt`);
const fails = (begin: string, end: string): string => repairAnswer('checksum_fail', `${begin}.txt`, `${end}.txt`);

/** One row deleted and one changed in the manager's table, as it was recorded (agent-transcript.md 8). */
export const REPAIR_TRACE: SyncTrace = [
  { messages: [repairCheck('global', 'b.txt', UNKNOWN, 'f8.txt')] },
  { order: fails('b', 'f8'), messages: [left('b', 'f3', 'f4'), right('f4', 'f8')] },
  {
    order: fails('b', 'f3'),
    messages: [left('b', 'c', 'f1', '9446b0f92af29a18416acbd7ba17304a90fe3639'), right('f1', 'f3')],
  },
  { order: fails('f4', 'f8'), messages: [left('f4', 'f5', 'f6'), right('f6', 'f8')] },
  {
    order: fails('f1', 'f3'),
    messages: [left('f1', 'f1', 'f2', 'ab167924344af7622591d0cec224679f030f89db'), right('f2', 'f3')],
  },
  {
    order: fails('f6', 'f8'),
    messages: [left('f6', 'f6', 'f7', '0cf81a715d0d4c260a59b1af6ff2653db850204a'), right('f7', 'f8')],
  },
  {
    order: fails('f2', 'f3'),
    messages: [left('f2', 'f2', 'f3'), right('f3', 'f3', '187a67c9b1fe5a99edbcdac10aa070c224fff41a')],
  },
  {
    order: fails('f6', 'f6'),
    messages: [
      '{"component":"fim_file","data":{"attributes":{"attributes":"","checksum":"aec7488b2d4e874d9df1505a7e5c483a0d0bdf5c","gid":"0","group_name":"root","hash_md5":"9ae0ea9e3c9c6e1b9b6252c8395efdc1","hash_sha1":"ccf271b7830882da1791852baeca1737fcbe4b90","hash_sha256":"06e9d52c1720fca412803e3b07c4b228ff113e303f4c7ab94665319d832bbfb7","inode":"2304581","mtime":1795220445,"perm":"rw-r--r--","size":2,"type":"file","uid":"0","user_name":"root"},"index":"/fim/f6.txt","timestamp":1795220445},"type":"state"}',
    ],
  },
  {
    order: repairAnswer('no_data', 'f3.txt', 'f3.txt'),
    messages: [
      '{"component":"fim_file","data":{"attributes":{"attributes":"","checksum":"aa9b0af0b0d3343aa3a0de0cfe2a61797275edda","gid":"0","group_name":"root","hash_md5":"6d7fce9fee471194aa8b5b6e47267f03","hash_sha1":"a3db5c13ff90a36963278c6a39e4ee3c22e2a436","hash_sha256":"1121cfccd5913f0a63fec40a6ffd44ea64f9dc135c66634ba001d10bcf4302a2","inode":"2304578","mtime":1795220445,"perm":"rw-r--r--","size":2,"type":"file","uid":"0","user_name":"root"},"index":"/fim/f3.txt","timestamp":1795220445},"type":"state"}',
    ],
  },
];

/** A message as a trace has it. @param expected what the trace has in its place */
export function asTraced(message: string, expected: string | undefined): string {
  const isUnknown = expected?.includes(`"checksum":"${UNKNOWN}"`) === true;
  return isUnknown ? message.replace(/"checksum":"[0-9a-f]{40}"/, `"checksum":"${UNKNOWN}"`) : message;
}
