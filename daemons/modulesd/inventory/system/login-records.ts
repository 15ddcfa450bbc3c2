/** A record of utmp(5). */
export type LoginRecord = {
  readonly type: number;
  readonly pid: number;
  readonly line: string;
  readonly user: string;
  readonly host: string;
  /** Epoch seconds. */
  readonly time: number;
};

/** Somebody is logged in, or was. */
export const USER_PROCESS = 7;

/** Bytes of a record: times have 32 bits where programs of 32 bits are at home, and 64 elsewhere. */
const SHORT_BYTES = 384;
const LONG_BYTES = 400;

/** Whether records of this host have times of 32 bits (x86 has, ARM with 64 bits has not). */
export function hasShortTimes(architecture: string): boolean {
  return !['arm64', 'riscv64', 'loong64'].includes(architecture);
}

/** Bytes of a record. */
export function loginRecordBytes(shortTimes: boolean): number {
  return shortTimes ? SHORT_BYTES : LONG_BYTES;
}

/** The records of utmp, wtmp or btmp, in their order; what is left of a last one is not looked at. */
export function* parseLogins(bytes: Buffer, shortTimes: boolean): Generator<LoginRecord, void, undefined> {
  const length = loginRecordBytes(shortTimes);
  for (let at = 0; at + length <= bytes.length; at += length) {
    yield {
      type: bytes.readInt16LE(at),
      pid: bytes.readInt32LE(at + 4),
      line: textAt(bytes, at + 8, 32),
      user: textAt(bytes, at + 44, 32),
      host: textAt(bytes, at + 76, 256),
      time: shortTimes ? bytes.readUInt32LE(at + 340) : Number(bytes.readBigInt64LE(at + 344)),
    };
  }
}

/** Bytes of a record of lastlog(8), which are found at the number of the user. */
export function lastLoginBytes(shortTimes: boolean): number {
  return shortTimes ? 292 : 296;
}

/** When the user of a record of lastlog logged in last, epoch seconds; 0 for never. */
export function lastLoginTime(record: Buffer, shortTimes: boolean): number {
  if (record.length < lastLoginBytes(shortTimes)) return 0;
  const time = shortTimes ? record.readUInt32LE(0) : Number(record.readBigInt64LE(0));
  return Number.isSafeInteger(time) && time > 0 ? time : 0;
}

/** Text that ends with a zero byte, or with its place. */
function textAt(bytes: Buffer, at: number, length: number): string {
  const end = bytes.indexOf(0, at);
  return bytes.toString('utf8', at, end < 0 ? at + length : Math.min(end, at + length));
}
