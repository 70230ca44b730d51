/**
 * The part of Kong's plugin development kit that this plugin uses.
 *
 * Every call is one round trip to Kong over the plugin server's socket. Answers are `unknown` on purpose: they come from
 * another process, only the first return value of a call is transferred, and `nil` arrives as `undefined`.
 */
export interface Pdk {
  readonly client: {
    /** The consumer found by an authentication plugin, as an object; `undefined` if there is none. */
    getConsumer(): Promise<unknown>;
    /** The credential that identified the consumer, likewise; contains secrets. */
    getCredential(): Promise<unknown>;
  };
  readonly log: { err(message: string): Promise<unknown> };
  readonly request: {
    /** The method as sent; Kong does not honour X-HTTP-Method-Override. */
    getMethod(): Promise<unknown>;
    /** The path as sent by the client, without the query. */
    getRawPath(): Promise<unknown>;
    /**
     * The path that Kong uses for routing and forwarding: dot segments and double slashes resolved, reserved characters kept
     * encoded.
     */
    getPath(): Promise<unknown>;
    /** The first value of a header; `undefined` if there is none. */
    getHeader(name: string): Promise<unknown>;
  };
  readonly service: {
    /** Sets the upstream of this request, and the Host header to `host` without the port. */
    setTarget(host: string, port: number): Promise<unknown>;
    setRetries(retries: number): Promise<unknown>;
    /** All three are in milliseconds. */
    setTimeouts(connect: number, write: number, read: number): Promise<unknown>;
    readonly request: {
      /** Replaces all values of a header: in place if the header exists, otherwise after all others. */
      setHeader(name: string, value: string): Promise<unknown>;
      /** The same for several headers, in no particular order. An empty list removes all values of the header. */
      setHeaders(headers: Readonly<Record<string, string | readonly string[]>>): Promise<unknown>;
    };
  };
  readonly response: {
    /** Answers the client. Kong never replies to this call, so it must be the last one of a phase. */
    exit(status: number, body: string, headers: Record<string, string>): Promise<unknown>;
  };
}
