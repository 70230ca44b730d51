import { GatewayError, type ProblemKind, type ProblemMembers } from '../shared/errors.js';
import { quoted } from '../shared/format-value.js';
import { type Dependent, MAX_EXAMPLES } from './records.js';

/** Something that the store holds or could hold. */
export type ResourceRef =
  | { readonly kind: 'domain'; readonly name: string }
  | { readonly kind: 'model'; readonly domain: string; readonly name: string; readonly version?: number }
  | { readonly kind: 'example'; readonly domain: string; readonly model: string; readonly name: string }
  | { readonly kind: 'context'; readonly name: string; readonly version?: number }
  | { readonly kind: 'reference'; readonly uri: string }
  | { readonly kind: 'retention policy'; readonly name: string }
  | { readonly kind: 'write policy'; readonly name: string };

/** The resource does not exist. If its domain or model is missing, the error names that instead. */
export class NotFoundError extends GatewayError {
  readonly kind = 'notFound';

  constructor(readonly resource: ResourceRef) {
    const version = 'version' in resource ? `version ${String(resource.version)} of ` : '';
    const advice = resource.kind === 'domain' ? ' POST /api/v2/domains with its name creates it.' : '';
    super(`There is no ${version}${describeResource(resource)}.${advice}`);
  }
}

/** The name is already taken. */
export class AlreadyExistsError extends GatewayError {
  readonly kind = 'alreadyExists';

  /** @param rest completes the sentence, if the existing resource is not what the caller wanted to create */
  constructor(
    readonly resource: ResourceRef,
    rest = '',
  ) {
    super(`There is already a ${describeResource(resource)}${rest}.`);
  }
}

/** Makes the error for a new domain whose own context would have the name of an existing context. */
export function contextNameTaken(name: string): AlreadyExistsError {
  return new AlreadyExistsError(
    { kind: 'context', name },
    ', and the context of the domain would have the same name',
  );
}

/** Makes the error for a new context with the name of an existing domain, whose own context has that name. */
export function domainNameTaken(name: string): AlreadyExistsError {
  return new AlreadyExistsError({ kind: 'domain', name }, ', whose context has this name');
}

/** The resource is not in the state that the caller expected. */
export class PreconditionFailedError extends GatewayError {
  readonly kind = 'preconditionFailed';

  constructor(
    readonly resource: ResourceRef,
    /** The ETag of the resource; undefined if the resource does not exist. */
    readonly etag: string | undefined,
  ) {
    super(`The ${describeResource(resource)} is not in the expected state.`);
  }
}

/** Something else depends on the resource to be deleted. */
export class InUseError extends GatewayError {
  readonly kind = 'inUse';

  /** @param dependents the first of them; `total` is the number of all */
  constructor(
    readonly resource: ResourceRef,
    readonly dependents: readonly Dependent[],
    readonly total: number,
  ) {
    super(`The ${describeResource(resource)} is in use by ${listSome(dependents, total)}.`);
  }

  override get members(): ProblemMembers {
    return { dependents: this.dependents, total: this.total };
  }
}

const NAMED_IN_MESSAGE = 5;

/** Lists the first of some dependents for a message, and how many more there are. */
export function listSome(dependents: readonly Dependent[], total = dependents.length): string {
  const named = dependents.slice(0, NAMED_IN_MESSAGE).map(describeResource).join(', ');
  return total > NAMED_IN_MESSAGE ? `${named} and ${total - NAMED_IN_MESSAGE} more` : named;
}

/** A context that is generated, or part of this product, and cannot be written. */
export class ReadOnlyContextError extends GatewayError {
  readonly kind = 'readOnly';

  /** @param reason completes a sentence about the context */
  constructor(
    readonly contextName: string,
    reason = 'is generated, and changes only with its model or the models of its domain',
  ) {
    super(`The context ${named(contextName)} ${reason}.`);
  }
}

/** A model already has the maximum number of examples. */
export class TooManyExamplesError extends GatewayError {
  readonly kind = 'limitExceeded';

  constructor() {
    super(`A model has at most ${MAX_EXAMPLES} examples. Delete one first.`);
  }
}

/** Something that the write is based on was changed or deleted in the meantime: read it again and start over. */
export class DependencyChangedError extends GatewayError {
  readonly kind = 'dependencyChanged';

  constructor(
    readonly references: readonly string[],
    readonly contexts: readonly string[],
  ) {
    const named = [
      ...references.map((uri) => describeResource({ kind: 'reference', uri })),
      ...contexts.map((name) => describeResource({ kind: 'context', name })),
    ];
    super(`Changed or missing: ${named.join(', ')}.`);
  }
}

/** A restore of this archive is still running. Only one may run at a time: two would create instances twice. */
export class RestoreUnderWayError extends GatewayError {
  readonly kind = 'inUse';

  constructor(
    of: string,
    readonly purge: string,
  ) {
    super(`The restore ${purge} of the purge ${of} has not ended: wait for it to end, or cancel it.`);
  }

  override get members(): ProblemMembers {
    return { purge: this.purge };
  }
}

/** A run of this retention policy has not ended, and only one may run at a time. */
export class RunUnderWayError extends GatewayError {
  readonly kind = 'runUnderWay';

  /** @param purge the id of the run */
  constructor(
    policy: string,
    readonly purge: string,
  ) {
    super(`The purge ${purge} is a run of the retention policy ${named(policy)} that has not ended.`);
  }

  override get members(): ProblemMembers {
    return { purge: this.purge };
  }
}

/** Another process has taken over or ended a purge, so this process no longer writes its record. */
export class LeaseLostError extends GatewayError {
  readonly kind = 'internalError';

  constructor(id: string) {
    super(`Another process has taken over the purge ${id}.`);
  }
}

/** The database never takes this, however often it is tried. */
export class UnstorableError extends GatewayError {
  readonly kind: ProblemKind = 'internalError';
}

/** A text that not every database can store: it is not well-formed Unicode, or contains U+0000. */
export class UnstorableTextError extends UnstorableError {
  override readonly kind = 'bodyInvalid';

  /** @param what names the text, e.g. `description` */
  constructor(readonly what: string) {
    super(`The ${what} contains a lone surrogate or the character U+0000, which cannot be stored.`);
  }

  /** Texts with these names are top-level members of the body. */
  override get members(): ProblemMembers {
    const isMember = ['name', 'description', 'contextBase'].includes(this.what);
    return isMember ? { errors: [{ pointer: `/${this.what}`, detail: this.message }] } : {};
  }
}

/** The database cannot be used: closed, busy for too long, disk full, damaged. */
export class StoreUnavailableError extends GatewayError {
  readonly kind = 'storeUnavailable';
  override readonly retryAfter = '1';
}

/**
 * A database cannot be opened, backed up or copied. If a specific database is at fault, the message begins with its
 * path, or its URL without credentials; the message says what to do.
 */
export class DatabaseUnusableError extends GatewayError {
  readonly kind = 'internalError';
}

/** Another process is using the SQLite file. */
export class DatabaseInUseError extends DatabaseUnusableError {
  constructor(path: string, options?: ErrorOptions) {
    super(
      `${path} is in use by another gateway. Stop that one first, or name another ` +
        'file. Several gateways can share a PostgreSQL database (DATABASE_URL).',
      options,
    );
  }
}

/** Returns what to call a resource in a sentence. */
function describeResource(resource: ResourceRef): string {
  switch (resource.kind) {
    case 'domain':
      return `domain ${named(resource.name)}`;
    case 'model':
      return `model ${named(resource.name)} in domain ${named(resource.domain)}`;
    case 'example':
      return `example ${named(resource.name)} of the model ${named(resource.model)} in domain ${named(resource.domain)}`;
    case 'context':
      return `context ${named(resource.name)}`;
    case 'reference':
      return `reference document ${named(resource.uri)}`;
    case 'retention policy':
      return `retention policy ${named(resource.name)}`;
    case 'write policy':
      return `write policy ${named(resource.name)}`;
  }
}

/** Quotes a name, because names come from outside. */
function named(name: string): string {
  return quoted(name, 200);
}
