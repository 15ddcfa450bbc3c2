import { fstatSync, readSync } from 'node:fs';
import { isErrno } from '../../../../lib/files/is-errno.js';
import { withRegularFileSync } from '../../../../lib/files/regular-file.js';
import type { HostFiles } from '../host/host-files.js';
import {
  hasShortTimes,
  lastLoginBytes,
  lastLoginTime,
  type LoginRecord,
  loginRecordBytes,
  parseLogins,
  USER_PROCESS,
} from './login-records.js';

/** Records of each file that are looked at, the newest: a host that is attacked writes millions of failures. */
const MOST_RECORDS = 20_000;

/** What the records of logins say of a user. */
export type Logins = {
  /** Epoch seconds; 0 for never, or when it is not known. */
  lastLogin: number;
  failures: number;
  /** Epoch seconds of the last failure. */
  lastFailure: number;
  /** Set while somebody is logged in: the session that began last. */
  session: LoginRecord | undefined;
};

/** Logins of each user, from utmp, wtmp, btmp and lastlog as far as they are there. */
export class LoginBook {
  readonly #files: HostFiles;
  readonly #shortTimes: boolean;
  readonly #users = new Map<string, Logins>();

  constructor(files: HostFiles, architecture: string = process.arch) {
    this.#files = files;
    this.#shortTimes = hasShortTimes(architecture);
    for (const record of this.#records('/var/run/utmp')) if (record.type === USER_PROCESS) this.#opened(record);
    for (const { type, user, time } of this.#records('/var/log/wtmp')) {
      const logins = this.#of(user);
      if (type === USER_PROCESS) logins.lastLogin = Math.max(logins.lastLogin, time);
    }
    for (const { user, time } of this.#records('/var/log/btmp')) {
      const logins = this.#of(user);
      logins.failures += 1;
      logins.lastFailure = Math.max(logins.lastFailure, time);
    }
  }

  /** @param uids by the name of the user */
  readLastLogins(uids: ReadonlyMap<string, number>): void {
    const length = lastLoginBytes(this.#shortTimes);
    this.#open('/var/log/lastlog', (fd) => {
      const record = Buffer.alloc(length);
      for (const [name, uid] of uids) {
        const read = readSync(fd, record, 0, length, uid * length);
        const time = lastLoginTime(record.subarray(0, read), this.#shortTimes);
        if (time === 0) continue;
        const logins = this.#of(name);
        logins.lastLogin = Math.max(logins.lastLogin, time);
      }
    });
  }

  /** Undefined for a user without any record. */
  of(user: string): Logins | undefined {
    return this.#users.get(user);
  }

  #opened(record: LoginRecord): void {
    const logins = this.#of(record.user);
    logins.lastLogin = Math.max(logins.lastLogin, record.time);
    if (logins.session === undefined || logins.session.time <= record.time) logins.session = record;
  }

  #of(user: string): Logins {
    let logins = this.#users.get(user);
    if (logins === undefined) {
      logins = { lastLogin: 0, failures: 0, lastFailure: 0, session: undefined };
      this.#users.set(user, logins);
    }
    return logins;
  }

  #records(path: string): LoginRecord[] {
    const length = loginRecordBytes(this.#shortTimes);
    let records: LoginRecord[] = [];
    this.#open(path, (fd) => {
      const whole = Math.floor(fstatSync(fd).size / length);
      const wanted = Math.min(whole, MOST_RECORDS);
      const bytes = Buffer.alloc(wanted * length);
      const read = readSync(fd, bytes, 0, bytes.length, (whole - wanted) * length);
      records = [...parseLogins(bytes.subarray(0, read), this.#shortTimes)];
    });
    return records;
  }

  #open(path: string, work: (fd: number) => void): void {
    try {
      withRegularFileSync(this.#files.at(path), work, { follow: true });
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) this.#files.notes.add('unreadable', path);
    }
  }
}
