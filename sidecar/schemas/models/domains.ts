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
import { overwriting, retrying } from './concurrency.js';

/** The body that updates a domain. What is left out stays; null removes it. */
export interface DomainChange {
  readonly description?: string | null | undefined;
  readonly compatibility?: Compatibility | null | undefined;
}

/** Creates and updates domains, the namespaces of models. */
export class Domains {
  readonly #domains: SchemaStore['domains'];
  readonly #core: ReadonlyMap<string, CoreContext>;

  /** @param core the bundled contexts: no domain may have the name of one */
  constructor(domains: SchemaStore['domains'], core: ReadonlyMap<string, CoreContext>) {
    this.#domains = domains;
    this.#core = core;
  }

  /** @throws InvalidBodyError, AlreadyExistsError, UnstorableTextError */
  async create(domain: NewDomain): Promise<Domain> {
    const name = requireName(domain.name);
    if (this.#core.has(name)) throw contextNameTaken(name);
    return this.#domains.create({ ...domain, name });
  }

  /**
   * @param ifMatch the ETags of which the domain must have one
   * @throws NotFoundError, PreconditionFailedError, UnstorableTextError, OvertakenError
   */
  update(name: string, change: DomainChange, ifMatch?: IfMatch): Promise<Domain> {
    return retrying(async () => {
      const domain = await this.#domains.get(name);
      requireMatch({ kind: 'domain', name }, domain.etag, ifMatch);
      const { description = domain.description, compatibility = domain.compatibility } = change;
      const settings = { description: description ?? undefined, compatibility: compatibility ?? 'none' };
      return overwriting(() => this.#domains.update(name, settings, [domain.etag]));
    });
  }
}
