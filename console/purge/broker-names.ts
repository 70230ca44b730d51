import type { DataPlace } from '../api/client.js';
import { askQuietly } from '../entities/entity-api.js';
import { useDebounced } from '../shared/use-debounced.js';
import { useLoad } from '../shared/use-load.js';

/** The names of types and of attributes that a broker has; both empty if it has no such lists. */
export interface BrokerNames {
  readonly types: readonly string[];
  readonly attributes: readonly string[];
}

const NONE: BrokerNames = { types: [], attributes: [] };

/** So many names are offered at most: the browser keeps all of them in the page. */
const MOST = 500;

/** What the broker names in a tenant, by an @context: to pick from while typing. */
export function useBrokerNames(tenant: string, link: string): BrokerNames {
  const place = useDebounced(JSON.stringify({ tenant: tenant.trim(), link: link.trim() }), 450);
  const { value } = useLoad(place, async (signal) => {
    const [types, attributes] = await Promise.all(
      // Not all brokers have these lists, and nobody needs to know.
      (['types', 'attributes'] as const).map(async (list) =>
        namesIn(await askQuietly(list, JSON.parse(place) as DataPlace, signal), list),
      ),
    );
    return { types: types ?? [], attributes: attributes ?? [] };
  });
  return value ?? NONE;
}

/** The names in an EntityTypeList or an AttributeList (NGSI-LD, clauses 5.2.24 and 5.2.27). */
export function namesIn(document: unknown, list: 'types' | 'attributes'): readonly string[] {
  const member = list === 'types' ? 'typeList' : 'attributeList';
  const names: unknown = (Object(document) as Readonly<Record<string, unknown>>)[member];
  return [names]
    .flat()
    .filter((name) => typeof name === 'string')
    .slice(0, MOST);
}

/** What a field may become whose names are separated by commas: the last of them is being typed. */
export function offersFor(typed: string, names: readonly string[]): readonly string[] {
  const before = typed.slice(0, typed.lastIndexOf(',') + 1);
  return names.map((name) => before + name);
}
