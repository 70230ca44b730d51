import { GatewayError } from '../../shared/errors.js';

/** Why a remote document is not available. For the first two, nothing was sent to that host. */
export type RemoteFailure =
  | 'origin-not-allowed'
  | 'address-not-allowed'
  | 'unreachable'
  | 'timeout'
  | 'status'
  | 'too-many-redirects'
  | 'too-large'
  | 'media-type'
  | 'not-json';

/** A document of another origin that could not be fetched, or is not what it should be. */
export class RemoteDocumentError extends GatewayError {
  readonly kind = 'internalError';
  readonly failure: RemoteFailure;
  /** The URL that was asked for; after redirects, the message names the last one. */
  readonly url: string;

  constructor(failure: RemoteFailure, url: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
    this.url = url;
  }
}
