/** Error codes of Node.js for a certificate of an authority that it does not know, and for any other wrong certificate. */
const UNKNOWN_AUTHORITY = /^(?:DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:GET|VERIFY)_)/;
const WRONG_CERTIFICATE = /^(?:CERT_|ERR_TLS_CERT_)/;

const NOT_TLS = 'ERR_SSL_WRONG_VERSION_NUMBER';

const NO_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  NOT_TLS,
]);

/** Whether an error code means that there was no connection on which to send a request. */
export function hasNoConnection(code: string): boolean {
  return NO_CONNECTION.has(code) || UNKNOWN_AUTHORITY.test(code) || WRONG_CERTIFICATE.test(code);
}

/** Says in words why a server could not be reached. @param code of the error, from Node.js or undici */
export function connectionProblem(code: string): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return 'connection broken';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its host name does not resolve';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `this machine has no route to its address (${code})`;
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return 'connection timed out';
    case NOT_TLS:
      return 'it does not speak TLS, although its URL begins with https';
    default:
  }
  if (UNKNOWN_AUTHORITY.test(code))
    return `its certificate is not trusted (${code}); NODE_EXTRA_CA_CERTS=ca.pem adds an authority of your own`;
  return WRONG_CERTIFICATE.test(code) ? `its certificate is not trusted (${code})` : code;
}
