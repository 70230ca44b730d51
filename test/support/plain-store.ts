import type { NewModelVersion } from '../../sidecar/store/records.js';

/** A write, over small sets of names so that writes collide. */
export type Operation =
  | { readonly do: 'create domain'; readonly domain: string }
  | { readonly do: 'delete domain'; readonly domain: string; readonly cascade: boolean }
  | {
      readonly do: 'create model' | 'update model';
      readonly model: Key;
      readonly version: Version;
      readonly examples: Texts | undefined;
    }
  | { readonly do: 'delete model'; readonly model: Key; readonly stale: boolean }
  | ExampleWrite
  | { readonly do: 'create context' | 'update context'; readonly context: string; readonly version: Version }
  | { readonly do: 'delete context'; readonly context: string; readonly stale: boolean }
  | {
      readonly do: 'put reference';
      readonly uri: string;
      readonly version: Version;
      readonly absent: boolean;
    }
  | { readonly do: 'delete reference'; readonly uri: string; readonly stale: boolean };

interface ExampleWrite {
  readonly do: 'put example' | 'delete example';
  readonly model: Key;
  readonly name: string;
  readonly text: string;
  readonly stale: boolean;
}

/** By name. */
type Texts = Readonly<Record<string, string>>;

interface Key {
  readonly domain: string;
  readonly name: string;
}

/** What a version is made of; a kind of thing ignores what it does not have. */
export interface Version {
  readonly text: string;
  readonly contexts: readonly string[];
  readonly uris: readonly string[];
}

interface ModelVersion extends Version {
  /** Text by URI. */
  readonly pins: ReadonlyMap<string, string>;
}

/** Returns the text of the context that is generated from a schema text. */
export function contextText(text: string): string {
  return `context of ${text}`;
}

/**
 * The rules of a store in the simplest form: maps of names, nothing stored twice, and every rule
 * checked against everything.
 */
export class PlainStore {
  readonly domains = new Map<string, Map<string, ModelVersion[]>>();
  /** The examples of each existing model, by `domain~model`. */
  readonly examples = new Map<string, Map<string, string>>();
  readonly contexts = new Map<string, Version[]>();
  readonly references = new Map<string, Version>();

  /**
   * Does a write or nothing.
   * @returns `done` or the code of the error
   */
  apply(operation: Operation): string {
    switch (operation.do) {
      case 'create domain':
        if (this.domains.has(operation.domain)) return 'alreadyExists';
        this.domains.set(operation.domain, new Map());
        return 'done';
      case 'delete domain':
        return this.#deleteDomain(operation.domain, operation.cascade);
      case 'create model':
      case 'update model':
        return this.#writeModel(operation, operation.version, operation.do === 'create model');
      case 'delete model':
        return this.#deleteModel(operation.model, operation.stale);
      case 'put example':
      case 'delete example':
        return this.#writeExample(operation);
      case 'create context':
      case 'update context':
        return this.#writeContext(operation.context, operation.version, operation.do === 'create context');
      case 'delete context':
        return this.#deleteContext(operation.context, operation.stale);
      case 'put reference':
        if (operation.absent && this.references.has(operation.uri)) return 'preconditionFailed';
        // A document that is put without a change is not checked any further.
        if (this.references.get(operation.uri)?.text !== operation.version.text)
          this.references.set(operation.uri, operation.version);
        return 'done';
      case 'delete reference':
        return this.#deleteReference(operation.uri, operation.stale);
    }
  }

  /** Returns every text that something names. */
  texts(): ReadonlySet<string> {
    const versions = this.#models().flatMap((model) => model.versions);
    return new Set([
      ...versions.flatMap(({ text, pins }) => [text, contextText(text), ...pins.values()]),
      ...[...this.examples.values()].flatMap((examples) => [...examples.values()]),
      ...[...this.contexts.values()].flat().map(({ text }) => text),
      ...[...this.references.values()].map(({ text }) => text),
    ]);
  }

  #deleteDomain(domain: string, cascade: boolean): string {
    const models = this.domains.get(domain);
    if (models === undefined) return 'notFound';
    const own = new Set([...models.keys()].map((name) => `${domain}~${name}`));
    const isUsed = this.#users(own).some((user) => !own.has(user));
    if ((models.size > 0 && !cascade) || isUsed) return 'inUse';
    this.domains.delete(domain);
    for (const model of own) this.examples.delete(model);
    return 'done';
  }

  #writeModel(
    { model: { domain, name }, examples }: { readonly model: Key; readonly examples: Texts | undefined },
    version: Version,
    isNew: boolean,
  ): string {
    const models = this.domains.get(domain);
    if (models === undefined || (!isNew && !models.has(name))) return 'notFound';
    if (isNew && models.has(name)) return 'alreadyExists';
    const isThere = (uri: string) => this.references.has(uri);
    if (!version.contexts.every((used) => this.#hasContext(used)) || !version.uris.every(isThere))
      return 'dependencyChanged';
    const pins = new Map(version.uris.map((uri) => [uri, this.references.get(uri)?.text ?? '']));
    models.set(name, [...(models.get(name) ?? []), { ...version, pins }]);
    if (isNew || examples !== undefined)
      this.examples.set(`${domain}~${name}`, new Map(Object.entries(examples ?? {})));
    return 'done';
  }

  #deleteModel({ domain, name }: Key, stale: boolean): string {
    if (this.domains.get(domain)?.has(name) !== true) return 'notFound';
    if (stale) return 'preconditionFailed';
    const context = `${domain}~${name}`;
    if (this.#users(new Set([context])).some((user) => user !== context)) return 'inUse';
    this.domains.get(domain)?.delete(name);
    this.examples.delete(context);
    return 'done';
  }

  #writeExample({ do: what, model, name, text, stale }: ExampleWrite): string {
    const examples = this.examples.get(`${model.domain}~${model.name}`);
    if (examples === undefined) return 'notFound';
    if (what === 'put example') {
      if (stale) return 'preconditionFailed';
      examples.set(name, text);
      return 'done';
    }
    if (!examples.has(name)) return 'notFound';
    if (stale) return 'preconditionFailed';
    examples.delete(name);
    return 'done';
  }

  #writeContext(name: string, version: Version, isNew: boolean): string {
    const versions = this.contexts.get(name);
    if (isNew && versions !== undefined) return 'alreadyExists';
    if (!isNew && versions === undefined) return 'notFound';
    if (versions?.at(-1)?.text === version.text) return 'done';
    if (!version.contexts.every((used) => this.#hasContext(used))) return 'dependencyChanged';
    this.contexts.set(name, [...(versions ?? []), version]);
    return 'done';
  }

  #deleteContext(name: string, stale: boolean): string {
    if (!this.contexts.has(name)) return 'notFound';
    if (stale) return 'preconditionFailed';
    if (this.#users(new Set([name])).some((user) => user !== name)) return 'inUse';
    this.contexts.delete(name);
    return 'done';
  }

  #deleteReference(uri: string, stale: boolean): string {
    if (!this.references.has(uri)) return 'notFound';
    if (stale) return 'preconditionFailed';
    const isUsed =
      this.#models().some(({ versions }) => versions.some(({ pins }) => pins.has(uri))) ||
      [...this.references].some(([other, { uris }]) => other !== uri && uris.includes(uri));
    if (isUsed) return 'inUse';
    this.references.delete(uri);
    return 'done';
  }

  #hasContext(name: string): boolean {
    return this.contexts.has(name) || this.#models().some(({ context }) => context === name);
  }

  /** Returns the names of contexts, custom or of a model, that use one of the given contexts. */
  #users(names: ReadonlySet<string>): readonly string[] {
    const uses = (versions: readonly Version[]) =>
      versions.some(({ contexts }) => contexts.some((used) => names.has(used)));
    const models = this.#models().filter(({ versions }) => uses(versions));
    const contexts = [...this.contexts].filter(([, versions]) => uses(versions));
    return [...models.map(({ context }) => context), ...contexts.map(([name]) => name)];
  }

  #models(): readonly { readonly context: string; readonly versions: readonly ModelVersion[] }[] {
    return [...this.domains].flatMap(([domain, models]) =>
      [...models].map(([name, versions]) => ({ context: `${domain}~${name}`, versions })),
    );
  }
}

/** Returns the version of a model as it is given to the store. */
export function newModelVersion(
  { text, contexts }: Version,
  references: ReadonlyMap<string, string>,
): NewModelVersion {
  return {
    schema: text,
    context: contextText(text),
    metadata: null,
    references,
    contexts: new Set(contexts),
  };
}
