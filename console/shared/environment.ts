/** Which environment the gateway belongs to. */
import { createContext } from 'preact';

/** ENVIRONMENT_NAME of the gateway; undefined without one, or until it is known. */
export const Environment = createContext<string | undefined>(undefined);

/** The colour of an environment: a mistake in production costs the most, one in a test the least. */
export function toneOf(environment: string): 'bad' | 'warn' | 'good' {
  if (/^(?:prod|live)/i.test(environment)) return 'bad';
  return /^(?:dev|test|local)/i.test(environment) ? 'good' : 'warn';
}
