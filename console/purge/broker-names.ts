import type { DataPlace } from '../api/client.js';
import { askBroker } from '../entities/entity-api.js';
import { useDebounced, useLoad } from '../shared/hooks.js';

/** The names of types and attributes in a broker; both are empty if the broker has no such lists. */
export interface BrokerNames {
  readonly types: readonly string[];
  readonly attributes: readonly string[];
}

const NONE: BrokerNames = { types: [], attributes: [] };

/** Maximum number of names suggested, because the browser keeps all of them in the page. */
const MOST = 500;

/** Reads the broker's names for a tenant and an @context, as suggestions while typing. */
export function useBrokerNames(tenant: string, link: string): BrokerNames {
  const place = useDebounced(JSON.stringify({ tenant: tenant.trim(), link: link.trim() }));
  const { value } = useLoad(place, async (signal) => {
    const [types, attributes] = await Promise.all(
      // Not all brokers have these lists, so errors are ignored.
      (['types', 'attributes'] as const).map(async (list) =>
        askBroker(list, JSON.parse(place) as DataPlace, signal)
          .then(async (answer) => namesIn(await answer.json(), list))
          .catch(() => []),
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

/** Returns suggestions for a field whose names are separated by commas: the last one is being typed. */
export function offersFor(typed: string, names: readonly string[]): readonly string[] {
  const before = typed.slice(0, typed.lastIndexOf(',') + 1);
  return names.map((name) => before + name);
}
