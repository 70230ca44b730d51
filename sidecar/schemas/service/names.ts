import { NameError } from './errors.js';

const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,127}$/;

/**
 * The name of a new domain, model or context.
 *
 * @throws NameError
 */
export function requireName(name: string): string {
  if (NAME.test(name)) return name;
  throw new NameError('has 1 to 128 of A-Z a-z 0-9 _ . - and begins with a letter');
}
