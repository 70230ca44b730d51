/** The environment that the gateway belongs to. */
import { createContext } from 'preact';

/** ENVIRONMENT_NAME of the gateway; undefined if it has none, or until it is known. */
export const Environment = createContext<string | undefined>(undefined);

/** Returns the colour of an environment: a mistake costs the most in production, and the least in tests. */
export function toneOf(environment: string): 'bad' | 'warn' | 'good' {
  if (/^(?:prod|live)/i.test(environment)) return 'bad';
  return /^(?:dev|test|local)/i.test(environment) ? 'good' : 'warn';
}
