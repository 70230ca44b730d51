import { optionsIn, purgeOption, type OptionValues } from '../../shared/purge-options.js';
import { QueryRefusedError } from '../errors.js';

/** The options of a purge as its query gives them; undefined where it does not. */
export interface QueryOptions extends Required<Omit<OptionValues<'query'>, 'dryRun'>> {
  readonly dryRun: boolean;
}

/**
 * Reads the options in the parameters of a purge.
 *
 * @throws QueryRefusedError for a value that an option cannot have, and for options that exclude each other
 */
export function queryOptions(parameters: ReadonlyMap<string, string>): QueryOptions {
  const values = optionsIn('query').map((name) => [name, valueOf(parameters, name)]);
  const options = Object.fromEntries(values) as OptionValues<'query'>;
  const { dryRun = false, record } = options;
  if (dryRun && record !== undefined) {
    const detail =
      'record=ids records what is deleted, and a dry run deletes nothing: leave one of them out.';
    throw new QueryRefusedError('invalidRequest', detail, 'record');
  }
  return { ...options, dryRun } as QueryOptions;
}

function valueOf(parameters: ReadonlyMap<string, string>, name: OptionName): unknown {
  const value = parameters.get(name);
  const { type } = purgeOption(name);
  if (value === undefined) return undefined;
  if (type === 'flag') return booleanOf(parameters, name);
  if (type === 'count') {
    if (/^[1-9]\d{0,14}$/.test(value)) return Number(value);
    throw new QueryRefusedError('invalidRequest', `${name} must be a whole number of 1 or more.`, name);
  }
  if (type.includes(value)) return value;
  throw new QueryRefusedError('invalidRequest', `${name} must be ${type.join(' or ')}.`, name);
}

type OptionName = keyof OptionValues<'query'>;

/** A parameter that is true or false. @throws QueryRefusedError for anything else */
export function booleanOf(parameters: ReadonlyMap<string, string>, name: string): boolean | undefined {
  const value = parameters.get(name);
  if (value === undefined) return undefined;
  if (value !== 'true' && value !== 'false') {
    throw new QueryRefusedError('invalidRequest', `${name} must be true or false.`, name);
  }
  return value === 'true';
}
