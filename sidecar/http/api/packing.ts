import { weightsOf } from '../weights.js';

/** Smaller answers fit into one packet as they are. */
const MIN_BYTES = 1400;

/** Whether an answer is packed with gzip. @param accepted the header Accept-Encoding of the request */
export function isPacked(accepted: string | undefined, bytes: Buffer): boolean {
  return bytes.length >= MIN_BYTES && accepted !== undefined && takesGzip(accepted);
}

/** Whether a client takes gzip, and would not rather have the bytes as they are (RFC 9110 § 12.5.3). */
function takesGzip(accepted: string): boolean {
  const weights = weightsOf(accepted);
  const weight = weights.get('gzip') ?? 0;
  return weight > 0 && weight >= (weights.get('identity') ?? 0);
}
