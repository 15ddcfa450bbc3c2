import type { TreeCalls } from './tree-calls.js';

/** What can be said of the files of one file system. */
export type FileSystemTraits = {
  /** They are looked at. */
  readonly walked: boolean;
  /** A file has as many bytes as its size says. */
  readonly exactSizes: boolean;
  /** A directory has a link for each directory in it, and two more. */
  readonly countsLinks: boolean;
};

const OVERLAY = 0x794c7630;
/** Network file systems that `skip_nfs` means: NFS, CIFS, SMB2. */
const SKIPPABLE = new Set([0x6969, 0xff534d42, 0xfe534d42]);
/** Others whose sizes may be old: 9P, Ceph, AFS. */
const DISTANT = new Set([...SKIPPABLE, 0x01021997, 0x00c36400, 0x6b414653]);
/** Ext, XFS, tmpfs, F2FS. Btrfs, overlays and others count otherwise or not at all. */
const COUNTING = new Set([0xef53, 0x58465342, 0x01021994, 0xf2f52010]);
/** What holds no files but what a kernel or a program says: sizes and counts there mean nothing. */
const PSEUDO = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x27e0eb, // cgroup
  0x63677270, // cgroup2
  0x1cd1, // devpts
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x73636673, // securityfs
  0xcafe4a11, // bpf
  0x62656570, // configfs
  0x6165676c, // pstore
  0xde5e81e4, // efivarfs
  0x0187, // autofs
  0xf97cff8c, // selinuxfs
  0x43415d53, // smackfs
  0x42494e4d, // binfmt_misc
  0x65735546, // FUSE: as /proc of lxcfs
  0x65735543, // fusectl
  0x19800202, // mqueue
  0x958458f6, // hugetlbfs
  0x6e736673, // nsfs
  0x67596969, // rpc_pipefs
]);
const UNKNOWN: FileSystemTraits = { walked: true, exactSizes: false, countsLinks: false };

/** Says what to make of the files of a device; asks the system once for each. */
export class TreeFileSystems {
  readonly #calls: TreeCalls;
  readonly #base: bigint | undefined;
  readonly #skipNfs: boolean;
  readonly #known = new Map<bigint, FileSystemTraits>();

  /** @param base device of the tree as a whole */
  constructor(calls: TreeCalls, base: bigint | undefined, skipNfs: boolean) {
    this.#calls = calls;
    this.#base = base;
    this.#skipNfs = skipNfs;
  }

  /** @param path byte string of something on the device */
  traits(path: string, dev: bigint): FileSystemTraits {
    let traits = this.#known.get(dev);
    if (traits === undefined) {
      traits = this.#ask(path, dev);
      this.#known.set(dev, traits);
    }
    return traits;
  }

  #ask(path: string, dev: bigint): FileSystemTraits {
    let type: number;
    try {
      type = this.#calls.fileSystem(path);
    } catch {
      return UNKNOWN;
    }
    // The trees of containers are overlays within the tree: they are the containers' business, and there once more.
    const container = type === OVERLAY && dev !== this.#base;
    const skipped = PSEUDO.has(type) || container || (this.#skipNfs && SKIPPABLE.has(type));
    return {
      walked: !skipped,
      exactSizes: !PSEUDO.has(type) && !DISTANT.has(type),
      countsLinks: COUNTING.has(type),
    };
  }
}
