import { useContext } from 'preact/hooks';
import { Environment, toneOf } from '../shared/environment.js';
import { text } from '../strings.js';

/** Where an action takes place: the environment, the gateway and the tenant. */
export function Where({ tenant }: { readonly tenant?: string | undefined }) {
  const environment = useContext(Environment);
  return (
    <p class="where">
      {environment !== undefined && <span class={`chip ${toneOf(environment)}`}>{environment}</span>}
      <span>{location.host}</span>
      {tenant !== undefined && <span>{text.where.tenant(tenant)}</span>}
    </p>
  );
}
