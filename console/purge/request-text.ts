import { PURGE_PATHS } from '../../sidecar/client/purges.js';
import { flagOf, optionsIn, purgeOption } from '../../sidecar/shared/purge-options.js';
import { contextOf, type PurgeForm } from './form.js';

/** Returns the request line as people read it: method, path and query. */
export function requestLine({ target }: PurgeForm, query: string): string {
  return `DELETE ${PURGE_PATHS[target]}${query === '' ? '' : `?${query}`}`;
}

/** The kind of credential that the gateway accepts from the user. */
export type Credential = 'access token' | 'gateway token';

/** Credentials are given as variables, because the values themselves would stay in the shell history. */
const CREDENTIAL_HEADERS: Readonly<Record<Credential, string>> = {
  'access token': '-H "Authorization: Bearer $ACCESS_TOKEN"',
  'gateway token': '-H "X-Gateway-Token: $NGSILD_GATEWAY_TOKEN"',
};

/**
 * Returns the purge as a curl command.
 *
 * @param base URL of the gateway, with a slash at its end
 */
export function curlOf(form: PurgeForm, query: string, base: string, credential?: Credential): string {
  const { target, link } = form;
  const tenant = form.tenant.trim();
  const headers = [
    'Prefer: respond-async',
    ...(tenant === '' ? [] : [`NGSILD-Tenant: ${tenant}`]),
    ...(link === '' ? [] : [`Link: ${link}`]),
  ];
  return [
    `curl -X DELETE ${quoted(`${base.replace(/\/$/, '')}${PURGE_PATHS[target]}?${query}`)}`,
    ...headers.map((header) => `-H ${quoted(header)}`),
    ...(credential === undefined ? [] : [CREDENTIAL_HEADERS[credential]]),
  ].join(' \\\n  ');
}

/**
 * Returns the purge as a call of the command line in a checkout, because the package is not in any registry.
 *
 * @param base URL of the gateway, with a slash at its end
 */
export function commandOf({ target, link, ...form }: PurgeForm, query: string, base: string): string {
  const tenant = form.tenant.trim();
  const { options, rest } = optionsOf(query);
  return [
    `npx ngsi-ld-gateway purge --gateway ${quoted(base.replace(/\/$/, ''))}`,
    ...(target === 'temporal' ? ['--temporal'] : []),
    ...(tenant === '' ? [] : [`--tenant ${quoted(tenant)}`]),
    ...(link === '' ? [] : [`--link ${quoted(contextOf(link))}`]),
    ...options,
    quoted(rest),
  ].join(' \\\n  ');
}

/**
 * Separates the options that have flags from a query. An option that is given twice stays in the query: the command line
 * refuses it, as the gateway does.
 */
function optionsOf(query: string): { readonly options: readonly string[]; readonly rest: string } {
  const options: string[] = [];
  let rest = query.split('&');
  for (const name of optionsIn('query')) {
    const [flag, isFlag] = [flagOf(name), purgeOption(name).type === 'flag'];
    const [only = '', ...others] = rest.filter((pair) => pair.startsWith(`${name}=`));
    const value = only.slice(name.length + 1);
    if (flag === undefined || value === '' || others.length > 0 || (isFlag && value !== 'true')) continue;
    options.push(isFlag ? flag : `${flag} ${quoted(value)}`);
    rest = rest.filter((pair) => pair !== only);
  }
  return { options, rest: rest.join('&') };
}

/** Quotes a word for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
