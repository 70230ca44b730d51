import { DependencyChangedError } from '../store/errors.js';
import { OvertakenError } from './errors.js';

const MOST_ATTEMPTS = 3;

/**
 * Starts over when others have meanwhile changed what a write was made from.
 *
 * @throws OvertakenError when that happens again and again
 */
export async function retrying<Result>(attempt: () => Promise<Result>): Promise<Result> {
  let overtaken: unknown;
  for (let left = MOST_ATTEMPTS; left > 0; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof DependencyChangedError) && !(error instanceof OvertakenError)) throw error;
      overtaken = error;
    }
  }
  throw new OvertakenError({ cause: overtaken });
}
