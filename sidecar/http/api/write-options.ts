import type { WriteOptions } from '../../schemas/service/service.js';
import type { Conditions } from './conditions.js';
import { refused } from './refusals.js';

/**
 * The conditions of a write to something that must be there already.
 *
 * @param find rejects when it is not there
 * @throws RequestRefusedError (412) for `If-None-Match: *` when it is
 */
export async function writeOptions(
  { ifMatch, ifAbsent }: Conditions,
  find: () => Promise<unknown>,
): Promise<WriteOptions> {
  if (ifAbsent) {
    await find();
    throw refused('preconditionFailed', 'If-None-Match: * asks for what is not there yet, and it is there.');
  }
  // What is missing is never made by these writes, which is all that `*` asks for.
  return ifMatch === undefined || ifMatch === '*' ? {} : { ifMatch };
}
