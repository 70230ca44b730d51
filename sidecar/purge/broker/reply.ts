/** One complete answer of the broker. Header names are lower-case; repeated headers are joined by a comma. */
export interface BrokerReply {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}
