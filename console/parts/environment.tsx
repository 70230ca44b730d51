import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { text } from '../strings.js';

/** ENVIRONMENT_NAME of the gateway; undefined if it has none, or until it is known. */
export const Environment = createContext<string | undefined>(undefined);

/** Where an action takes place: the environment, the gateway and the tenant. */
export function EnvironmentInfo({ tenant }: { readonly tenant?: string | undefined }) {
  const environment = useContext(Environment);
  return (
    <p class="where">
      {environment !== undefined && <span class={`chip ${environmentTone(environment)}`}>{environment}</span>}
      <span>{location.host}</span>
      {tenant !== undefined && <span>{text.where.tenant(tenant)}</span>}
    </p>
  );
}

/** Returns the colour of an environment: a mistake costs the most in production, and the least in tests. */
export function environmentTone(environment: string): 'bad' | 'warn' | 'good' {
  if (/^(?:prod|live)/i.test(environment)) return 'bad';
  return /^(?:dev|test|local)/i.test(environment) ? 'good' : 'warn';
}
