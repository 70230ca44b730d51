import { refusals } from './refusal.js';
import { EntityStore } from './store.js';
import { TemporalStore } from './temporal-store.js';

const TENANT = /^[\x21-\x7e]{1,256}$/;

/** The data of a tenant: current entities, and the history of temporal ones. */
export class Tenant {
  readonly entities = new EntityStore();
  readonly history = new TemporalStore();
}

/** All tenants (ETSI GS CIM 009 V1.9.1, clause 5.5.10). The default tenant always exists. */
export class Tenants {
  readonly #tenants = new Map<string | undefined, Tenant>([[undefined, new Tenant()]]);

  /** Returns the tenant with this name. @throws Refusal NonexistentTenant */
  existing(name: string | undefined): Tenant {
    const tenant = this.#tenants.get(name);
    if (tenant === undefined) throw refusals.nonexistentTenant(`Tenant ${String(name)} does not exist`);
    return tenant;
  }

  /** Returns the tenant of a creating operation, creating it if needed. @throws Refusal InvalidRequest */
  created(name: string | undefined): Tenant {
    const present = this.#tenants.get(name);
    if (present !== undefined) return present;
    if (name !== undefined && !TENANT.test(name))
      throw refusals.invalidRequest('NGSILD-Tenant is not a valid tenant name');
    const tenant = new Tenant();
    this.#tenants.set(name, tenant);
    return tenant;
  }

  find(name: string | undefined): Tenant | undefined {
    return this.#tenants.get(name);
  }
}
