/** ZooKeeper did not reply, or the session has ended. */
export class ZookeeperUnavailableError extends Error {
  readonly code = 'ZOOKEEPER_UNAVAILABLE';

  constructor() {
    super('ZooKeeper does not reply, or has ended the session.');
    this.name = 'ZookeeperUnavailableError';
  }
}
