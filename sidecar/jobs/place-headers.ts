import { QueryRefusedError } from '../purge/index.js';
import type { JobRecord, PurgeRecord } from '../store/index.js';
import { defined } from '../shared/defined.js';

/** By their names in lower case. */
type Headers = Readonly<Record<string, string>>;

/** What says where the entities are, and what their names mean: as in the purge before. */
const PLACE_HEADERS = ['ngsild-tenant', 'fiware-service', 'fiware-servicepath', 'link'] as const;

/** What a record says of where its entities are: both tenants, where the headers name two. */
export function placeOf(headers: Headers): Pick<JobRecord, 'tenant' | 'link' | 'fiware'> {
  const { 'fiware-service': service, 'fiware-servicepath': servicePath, link } = headers;
  const tenant = headers['ngsild-tenant'] ?? service;
  const fiware = defined({ service, servicePath });
  return { ...defined({ tenant, link }), ...(Object.keys(fiware).length === 0 ? {} : { fiware }) };
}

/**
 * The headers of a job that follows a purge: where the entities are, and the credentials of who asks for it.
 *
 * @throws QueryRefusedError where the request names another tenant
 */
export function headersAt(given: Headers, { tenant, link, fiware }: PurgeRecord): Headers {
  const asked = given['ngsild-tenant'] ?? given['fiware-service'];
  if (asked !== undefined && asked !== tenant)
    throw new QueryRefusedError(
      'invalidRequest',
      `The purge was of ${tenant === undefined ? 'the default tenant' : `the tenant ${tenant}`}, ` +
        'and this is done there: leave the tenant out.',
    );
  const isOther = ([name]: readonly [string, string]) => !(PLACE_HEADERS as readonly string[]).includes(name);
  const { service, servicePath } = fiware ?? {};
  return {
    ...Object.fromEntries(Object.entries(given).filter(isOther)),
    ...defined({
      'ngsild-tenant': tenant === service ? undefined : tenant,
      'fiware-service': service,
      'fiware-servicepath': servicePath,
      link,
    }),
  };
}
