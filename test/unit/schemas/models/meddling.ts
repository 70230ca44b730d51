import type { SchemaStore } from '../../../../sidecar/store/sql-store.js';

/** A store with some parts replaced. */
export function storeWith(store: SchemaStore, parts: Partial<SchemaStore>): SchemaStore {
  const { domains, models, examples, contexts, references } = store;
  return {
    domains,
    models,
    examples,
    contexts,
    references,
    content: (sha256) => store.content(sha256),
    revision: () => store.revision(),
    isReady: () => store.isReady(),
    close: () => store.close(),
    ...parts,
  };
}

/** An object with some methods replaced. */
export function over<Part extends object>(part: Part, methods: Partial<Part>): Part {
  return new Proxy(part, {
    get: (target, name) => {
      if (Object.hasOwn(methods, name)) return Reflect.get(methods, name) as unknown;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
