/** Contents of files that all nodes reach, each named by the SHA-256 of what it holds. */
export interface BlobStore {
  /** @throws BusError `cluster_unavailable` */
  has(name: string): Promise<boolean>;
  /** Puts a content where none of its name is. @throws BusError `cluster_unavailable` */
  put(name: string, content: Buffer): Promise<void>;
  /**
   * @returns undefined when it is not there
   * @throws BusError `cluster_unavailable`; Error when what is there is not what its name says
   */
  get(name: string): Promise<Buffer | undefined>;
  /** Names of all. @throws BusError `cluster_unavailable` */
  list(): Promise<readonly string[]>;
  /** @throws BusError `cluster_unavailable` */
  remove(name: string): Promise<void>;
}
