import {
  type Compatibility,
  contextNameTaken,
  type Domain,
  type IfMatch,
  type NewDomain,
  requireMatch,
  type SchemaStore,
} from '../../store/index.js';
import type { CoreContext } from './core-contexts.js';
import { requireName } from './errors.js';
import { writeIfUnchanged, retryOnConflict } from './concurrency.js';

/** The body that updates a domain. Omitted members are unchanged; null removes a member. */
export interface DomainChange {
  readonly description?: string | null | undefined;
  readonly compatibility?: Compatibility | null | undefined;
}

/** Creates and updates domains, the namespaces of models. */
export class Domains {
  readonly #domains: SchemaStore['domains'];
  readonly #core: ReadonlyMap<string, CoreContext>;

  /** @param core the bundled contexts, whose names domains must not have */
  constructor(domains: SchemaStore['domains'], core: ReadonlyMap<string, CoreContext>) {
    this.#domains = domains;
    this.#core = core;
  }

  /** Creates a domain. @throws InvalidBodyError, AlreadyExistsError, UnstorableTextError */
  async create(domain: NewDomain): Promise<Domain> {
    const name = requireName(domain.name);
    if (this.#core.has(name)) throw contextNameTaken(name);
    return this.#domains.create({ ...domain, name });
  }

  /**
   * Updates a domain.
   *
   * @param ifMatch ETags, one of which the domain must have
   * @throws NotFoundError, PreconditionFailedError, UnstorableTextError, ConcurrentUpdateError
   */
  update(name: string, change: DomainChange, ifMatch?: IfMatch): Promise<Domain> {
    return retryOnConflict(async () => {
      const domain = await this.#domains.get(name);
      requireMatch({ kind: 'domain', name }, domain.etag, ifMatch);
      const { description = domain.description, compatibility = domain.compatibility } = change;
      const settings = { description: description ?? undefined, compatibility: compatibility ?? 'none' };
      return writeIfUnchanged(() => this.#domains.update(name, settings, [domain.etag]));
    });
  }
}
