/** A session of this process with ZooKeeper. */
export interface ZookeeperSession {
  close(): void;
}
