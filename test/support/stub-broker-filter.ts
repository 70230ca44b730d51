/** An entity as a stub broker stores it: attributes next to id, type and scope. */
export interface StubEntity {
  readonly id: string;
  readonly type?: string;
  readonly scope?: string;
  readonly [member: string]: unknown;
}

/**
 * Whether an entity matches all filters of a query. Supports just enough of clause 4.9 for tests.
 */
export function matches(
  entity: StubEntity,
  query: URLSearchParams,
  aliases: ReadonlyMap<string, string>,
): boolean {
  const has = (name: string) => Object.hasOwn(entity, aliases.get(name) ?? name);
  const listed = (name: string, separator: RegExp | string) => query.get(name)?.split(separator);

  const types = listed('type', /[,|]/);
  if (types !== undefined && !types.includes('*') && !types.includes(entity.type ?? '')) return false;
  if (listed('id', ',')?.includes(entity.id) === false) return false;
  const pattern = query.get('idPattern');
  if (pattern !== null && !new RegExp(pattern).test(entity.id)) return false;
  if (listed('attrs', ',')?.some(has) === false) return false;
  if (query.has('scopeQ') && query.get('scopeQ') !== entity.scope) return false;
  if (query.has('georel') && !has(query.get('geoproperty') ?? 'location')) return false;
  return (listed('q', ';') ?? []).every((term) => holds(entity, term));
}

/** Whether an entity satisfies a term of `q`: `name`, or `name` compared with a number. */
function holds(entity: StubEntity, term: string): boolean {
  const [, name = term, operator, operand] = /^(.+?)(==|!=|>=|<=|>|<)(.*)$/.exec(term) ?? [];
  if (!Object.hasOwn(entity, name)) return false;
  const value = valueOf(entity[name]);
  const wanted = Number(operand);
  switch (operator) {
    case undefined:
      return true;
    case '==':
      return value === wanted;
    case '!=':
      return value !== wanted;
    case '>':
      return value > wanted;
    case '<':
      return value < wanted;
    case '>=':
      return value >= wanted;
    default:
      return value <= wanted;
  }
}

function valueOf(attribute: unknown): number {
  return typeof attribute === 'object' && attribute !== null && 'value' in attribute
    ? Number(attribute.value)
    : Number.NaN;
}
