/** ZooKeeper did not answer, or the session with it has ended. */
export class ZookeeperUnavailableError extends Error {
  readonly code = 'ZOOKEEPER_UNAVAILABLE';

  constructor() {
    super('ZooKeeper does not answer, or has ended the session.');
    this.name = 'ZookeeperUnavailableError';
  }
}
