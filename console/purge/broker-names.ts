import type { DataScope } from '../api/client.js';
import { fetchBroker } from '../entities/entity-api.js';
import { useDebounced, useLoad } from '../shared/hooks.js';

/** Maximum number of names suggested, because the browser keeps all of them in the page. */
const MOST = 500;

/** Reads the names of types and attributes in the broker, as suggestions while typing. Not every broker has such lists. */
export function useBrokerNames(tenant: string, link: string) {
  const place = useDebounced(JSON.stringify({ tenant: tenant.trim(), link: link.trim() }));
  const { value } = useLoad(place, async (signal) => {
    const [types, attributes] = await Promise.all(
      (['types', 'attributes'] as const).map(async (list) =>
        fetchBroker(list, JSON.parse(place) as DataScope, signal)
          .then(async (answer) => namesIn(await answer.json(), list))
          .catch(() => []),
      ),
    );
    return { types: types ?? [], attributes: attributes ?? [] };
  });
  return value ?? { types: [], attributes: [] };
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

/** Returns suggestions for a field whose names are separated by commas: the last one is being typed. */
export function suggestNames(typed: string, names: readonly string[]): readonly string[] {
  const before = typed.slice(0, typed.lastIndexOf(',') + 1);
  return names.map((name) => before + name);
}
