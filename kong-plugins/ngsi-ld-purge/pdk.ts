/**
 * The part of Kong's plugin development kit this plugin uses.
 *
 * Every call is one round trip to Kong over the plugin server's socket. Answers are `unknown` on purpose: they
 * come from another process, only the first of a call's return values crosses, and `nil` arrives as `undefined`.
 */
export interface Pdk {
  readonly client: {
    /** The consumer that an authentication plugin found, as an object; `undefined` where none did. */
    getConsumer(): Promise<unknown>;
    /** The credential by which it found it, likewise; holds secrets. */
    getCredential(): Promise<unknown>;
  };
  readonly log: { err(message: string): Promise<unknown> };
  readonly request: {
    /** The method as sent; Kong does not honour X-HTTP-Method-Override. */
    getMethod(): Promise<unknown>;
    /** The path as the client spelt it, without the query. */
    getRawPath(): Promise<unknown>;
    /** The path Kong routes by and forwards: dot segments and double slashes resolved, reserved characters kept encoded. */
    getPath(): Promise<unknown>;
    /** The first value of a header; `undefined` where it is missing. */
    getHeader(name: string): Promise<unknown>;
  };
  readonly service: {
    /** Sets the upstream of this request, and the Host header to `host` without the port. */
    setTarget(host: string, port: number): Promise<unknown>;
    setRetries(retries: number): Promise<unknown>;
    /** All three in milliseconds. */
    setTimeouts(connect: number, write: number, read: number): Promise<unknown>;
    readonly request: {
      /** Replaces every value of the header: in its place where there is one, else behind all others. */
      setHeader(name: string, value: string): Promise<unknown>;
      /** The same for several headers, in no certain order; an empty list removes every value of the header. */
      setHeaders(headers: Readonly<Record<string, string | readonly string[]>>): Promise<unknown>;
    };
  };
  readonly response: {
    /** Answers the client. Kong never replies to it: it must be the last call of a phase. */
    exit(status: number, body: string, headers: Record<string, string>): Promise<unknown>;
  };
}
