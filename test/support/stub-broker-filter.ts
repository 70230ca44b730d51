/** An entity as a stub broker stores it: attributes next to id, type and scope. */
export interface StubEntity {
  readonly id: string;
  readonly type?: string;
  readonly scope?: string;
  readonly [member: string]: unknown;
}

type Filter = (entity: StubEntity) => boolean;

/**
 * Returns the test whether an entity matches all filters of a query. Supports just enough of clause 4.9 for tests. The query
 * is read once, because most of the time of a purge would be spent on reading it again for each entity.
 */
export function filterOf(query: URLSearchParams, aliases: ReadonlyMap<string, string>): Filter {
  const filters: Filter[] = [];
  const add = (name: string, filter: (value: string) => Filter) => {
    const value = query.get(name);
    if (value !== null) filters.push(filter(value));
  };
  const has = (name: string): Filter => {
    const member = aliases.get(name) ?? name;
    return (entity) => Object.hasOwn(entity, member);
  };

  add('type', (value) => {
    const types = value.split(/[,|]/);
    return ({ type = '' }) => types.includes('*') || types.includes(type);
  });
  add('id', (value) => {
    const ids = new Set(value.split(','));
    return ({ id }) => ids.has(id);
  });
  add('idPattern', (value) => {
    const pattern = new RegExp(value);
    return ({ id }) => pattern.test(id);
  });
  add('attrs', (value) => {
    const names = value.split(',').map(has);
    return (entity) => names.some((isIn) => isIn(entity));
  });
  add('scopeQ', (value) => (entity) => value === entity.scope);
  add('georel', () => has(query.get('geoproperty') ?? 'location'));
  add('q', (value) => {
    const terms = value.split(';').map(termOf);
    return (entity) => terms.every((holds) => holds(entity));
  });
  return (entity) => filters.every((isMatch) => isMatch(entity));
}

/** Reads a term of `q`: `name`, or `name` compared with a number. */
function termOf(term: string): Filter {
  const [, name = term, operator, operand] = /^(.+?)(==|!=|>=|<=|>|<)(.*)$/.exec(term) ?? [];
  const wanted = Number(operand);
  const holds = {
    '==': (value: number) => value === wanted,
    '!=': (value: number) => value !== wanted,
    '>': (value: number) => value > wanted,
    '<': (value: number) => value < wanted,
    '>=': (value: number) => value >= wanted,
    '<=': (value: number) => value <= wanted,
  }[operator ?? ''];
  return (entity) => Object.hasOwn(entity, name) && (holds?.(valueOf(entity[name])) ?? true);
}

function valueOf(attribute: unknown): number {
  return typeof attribute === 'object' && attribute !== null && 'value' in attribute
    ? Number(attribute.value)
    : Number.NaN;
}
