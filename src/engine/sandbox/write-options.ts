export interface WriteOptions {
  /**
   * True: no link is followed. One on the way is refused as `outside`, one in the place of the file is replaced. For what the service
   * writes by itself: the agent, which knows the path beforehand, could have made it lead to a file of its own.
   */
  noLinks?: boolean;
}
